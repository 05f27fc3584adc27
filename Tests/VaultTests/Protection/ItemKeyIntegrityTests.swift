import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// Changes of items with item keys by somebody who can write the file but has no key.
@VaultActor
@Suite struct ItemKeyIntegrityTests {
    private let folder = TemporaryFolder()

    /// Creates a closed vault with two items with item keys: 1 and 2.
    private func prepare() async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        for number in 1...2 { try await login.protect("devicePasscode", "s\(number)", secret: "secret \(number)") }
        await vault.close()
    }

    private func opened() async throws -> (Vault, Collection) {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        return (vault, try await vault.unlockedLogin())
    }

    private func tamper(_ sql: String) throws {
        try RawDatabase(folder.file("login.keychain")).execute(sql)
    }

    private func id(_ number: UInt64) throws -> ItemID {
        try #require(ItemID(rawValue: number))
    }

    @Test(arguments: ["metadata", "secret", "metadata = t.metadata, secret"])
    func columnsSwapped_nothingOpens(column: String) async throws {
        try await prepare()
        let assignments =
            column == "secret" || column == "metadata" ? "\(column) = t.\(column)" : "\(column) = t.secret"
        try tamper(
            """
            CREATE TABLE t AS SELECT * FROM item;
            UPDATE item SET \(assignments) FROM t WHERE t.id = 3 - item.id;
            DROP TABLE t
            """
        )
        let (vault, login) = try await opened()
        let passcode = try await vault.verifyPasscode(Fixture.bytes(Fixture.password))
        for number: UInt64 in 1...2 {
            do {
                let key = try await login.itemKey(of: id(number), passcode: passcode)
                _ = try await login.storedSecret(of: id(number), with: key)
                Issue.record("item \(number) opens")
            } catch let error as VaultError {
                #expect(error.code == .unreadable)
            }
        }
        #expect(login.problem != nil)
        await vault.close()
    }

    @Test func rolledBackSecret_isNotReleased() async throws {
        try await prepare()
        try tamper("CREATE TABLE keep AS SELECT * FROM item WHERE id = 1")
        let secret = try RawDatabase(folder.file("login.keychain")).text("SELECT hex(secret) FROM keep")
        try tamper("DROP TABLE keep")
        var (vault, login) = try await opened()
        let key = try await login.key(of: id(1), in: vault, passcode: Fixture.password)
        // The key stays the same, so only the revision distinguishes the secrets.
        try await login.updateItem(id(1), secret: Fixture.secret("changed"), key: key)
        await vault.close()
        try tamper("UPDATE item SET secret = x'\(secret)' WHERE id = 1")
        (vault, login) = try await opened()
        #expect(throws: VaultError.of(.unreadable)) { _ = try login.secret(of: id(1), with: key) }
        #expect(login.problem?.contains("secret") == true)
        await vault.close()
    }

    @Test func rolledBackRow_isReported() async throws {
        try await prepare()
        let columns = ["tags", "metadata", "secret"]
        let database = try RawDatabase(folder.file("login.keychain"))
        let revision = try database.text("SELECT revision FROM item WHERE id = 1")
        let row = try columns.map { column in
            "\(column) = x'\(try database.text("SELECT hex(\(column)) FROM item WHERE id = 1"))'"
        }
        var (vault, login) = try await opened()
        try await login.updateItem(id(1), secret: Fixture.secret("changed"), authenticated: true)
        await vault.close()
        try tamper("UPDATE item SET revision = \(revision), \(row.joined(separator: ", ")) WHERE id = 1")
        (vault, login) = try await opened()
        #expect(login.problem?.contains("rolled back") == true)
        await vault.close()
    }

    @Test func crashAfterEachChange_itemsOpen() async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        let id = try await login.add("x", ["service": "bank"])
        for (number, accessControl) in ["devicePasscode", "userPresence", "devicePasscode and biometryAny"].enumerated()
        {
            let key = login.needsItemKey(id) ? try await login.key(of: id, in: vault, passcode: Fixture.password) : nil
            try await login.updateItem(
                id,
                attributes: .protected(accessControl),
                secret: Fixture.secret("secret \(number)"),
                key: key,
                authenticated: true
            )
            let copy = try folder.snapshot()
            let survivor = try await Vault.opened(Fixture.configuration(copy))
            let restored = try await survivor.unlockedLogin()
            #expect(restored.problem == nil)
            #expect(restored.protection(of: id) == login.protection(of: id))
            let expected = Array("secret \(number)".utf8)
            if restored.needsItemKey(id) {
                let key = try await restored.key(of: id, in: survivor, passcode: Fixture.password)
                #expect(try await restored.content(of: id, with: key) == expected)
            } else {
                #expect(try await restored.content(of: id) == expected)
            }
            await survivor.close()
        }
        await vault.close()
    }
}

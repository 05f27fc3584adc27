import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// Changes of a file without its key, while the daemon is not running.
@VaultActor
@Suite struct IntegrityTests {
    private let folder = TemporaryFolder()

    /// Creates a closed vault with items 1, 2 and 3.
    private func prepare() async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        for number in 1...3 {
            try await login.add("label \(number)", ["n": "\(number)", "all": "yes"], secret: "secret \(number)")
        }
        await vault.close()
    }

    private func tamper(_ sql: String) throws {
        try RawDatabase(folder.file("login.keychain")).execute(sql)
    }

    private func opened() async throws -> (Vault, Collection) {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        return (vault, try await vault.unlockedLogin())
    }

    private func id(_ number: UInt64) throws -> ItemID {
        try #require(ItemID(rawValue: number))
    }

    @Test func nothingChanged_noProblem() async throws {
        try await prepare()
        let (vault, login) = try await opened()
        #expect(login.problem == nil)
        await vault.close()
    }

    @Test func removedRow_isReported_andStaysReported() async throws {
        try await prepare()
        try tamper("DELETE FROM item WHERE id = 2")
        var (vault, login) = try await opened()
        #expect(login.problem?.contains("removed") == true)
        #expect(login.itemCount == 2)
        // A change works, and does not hide the loss.
        try await login.add("new")
        await vault.close()
        (vault, login) = try await opened()
        #expect(login.problem?.contains("removed") == true)
        #expect(login.itemCount == 3)
        await vault.close()
    }

    @Test(arguments: [false, true])
    func rolledBackRow_isReported(afterItsDeletion isDeleted: Bool) async throws {
        try await prepare()
        let columns = try ["tags", "metadata", "secret"].map { column in
            try RawDatabase(folder.file("login.keychain")).text("SELECT hex(\(column)) FROM item WHERE id = 3")
        }
        let revision = try RawDatabase(folder.file("login.keychain")).text("SELECT revision FROM item WHERE id = 3")
        var (vault, login) = try await opened()
        #expect(login.problem == nil)
        if isDeleted {
            try await login.deleteItem(id(3))
        } else {
            try await login.updateItem(id(3), secret: Fixture.secret("changed"))
        }
        await vault.close()
        try tamper(
            "INSERT OR REPLACE INTO item VALUES (3, \(revision), x'\(columns[0])', x'\(columns[1])', x'\(columns[2])')"
        )
        (vault, login) = try await opened()
        #expect(login.problem?.contains("added or rolled back") == true)
        await vault.close()
    }

    @Test func rowsSwapped_bothAreDamaged_thirdIsIntact() async throws {
        try await prepare()
        try tamper(
            """
            UPDATE item SET id = 9 WHERE id = 1;
            UPDATE item SET id = 1 WHERE id = 2;
            UPDATE item SET id = 2 WHERE id = 9
            """
        )
        let (vault, login) = try await opened()
        #expect(login.problem != nil)
        for number: UInt64 in 1...2 {
            guard case .damaged = login.item(try id(number))?.condition else {
                Issue.record("item \(number) passes for intact")
                continue
            }
            #expect(throws: VaultError(.unreadable, reason: "")) { _ = try login.secret(of: id(number)) }
        }
        #expect(try await login.content(of: id(3)) == Array("secret 3".utf8))
        await vault.close()
    }

    @Test func secretsSwapped_areNotReleased() async throws {
        try await prepare()
        try tamper(
            """
            CREATE TABLE t AS SELECT id, secret FROM item;
            UPDATE item SET secret = (SELECT secret FROM t WHERE t.id = 3 - item.id) WHERE id IN (1, 2);
            DROP TABLE t
            """
        )
        let (vault, login) = try await opened()
        for number: UInt64 in 1...2 {
            #expect(throws: VaultError(.unreadable, reason: "")) { _ = try login.secret(of: id(number)) }
        }
        #expect(login.problem?.contains("secret") == true)
        #expect(login.item(try id(1))?.label == "label 1")
        #expect(try await login.content(of: id(3)) == Array("secret 3".utf8))
        await vault.close()
    }

    @Test(arguments: ["metadata", "secret", "tags", "revision"])
    func rowDamaged_onlyThatItemIsDamaged_andIsKept(column: String) async throws {
        try await prepare()
        let change = column == "revision" ? "revision + 1" : "CAST(substr(\(column), 2) || x'00' AS BLOB)"
        try tamper("UPDATE item SET \(column) = \(change) WHERE id = 2")
        let spoiled = "SELECT hex(metadata) || hex(secret) || hex(tags) FROM item WHERE id = 2"
        let before = try RawDatabase(folder.file("login.keychain")).text(spoiled)
        var (vault, login) = try await opened()
        #expect(throws: VaultError(.unreadable, reason: "")) { _ = try login.secret(of: id(2)) }
        guard case .damaged = login.item(try id(2))?.condition else {
            Issue.record("the item passes for intact")
            return
        }
        #expect(login.problem != nil)
        #expect(try await login.content(of: id(1)) == Array("secret 1".utf8))
        await #expect(throws: VaultError(.unreadable, reason: "")) { try await login.updateItem(id(2), label: "x") }
        // A replacement must not overwrite it either.
        let outcome = try await login.createItem(
            label: "new",
            attributes: ["n": "2", "all": "yes"],
            secret: Fixture.secret("new"),
            replacing: true
        )
        #expect(outcome.id != (try id(2)))
        #expect(login.itemCount == 4)
        await vault.close()
        #expect(try RawDatabase(folder.file("login.keychain")).text(spoiled) == before)

        (vault, login) = try await opened()
        // An explicit deletion removes it.
        try await login.deleteItem(id(2))
        #expect(login.search(["n": "2"]).count == 1)
        await vault.close()
    }

    @Test func damagedItem_isStillFoundByItsTags() async throws {
        try await prepare()
        try tamper("UPDATE item SET metadata = x'00' WHERE id = 2")
        let (vault, login) = try await opened()
        #expect(login.search(["n": "2"]) == [try id(2)])
        #expect(login.search(["n": "2", "all": "yes"]) == [try id(2)])
        #expect(login.search(["all": "yes"]).count == 3)
        try await login.deleteItem(id(2))
        #expect(login.search(["n": "2"]).isEmpty)
        await vault.close()
    }

    @Test func stateDamaged_itemsAreReadable_changesAreRefused() async throws {
        try await prepare()
        try tamper("UPDATE header SET state = x'0102'")
        let (vault, login) = try await opened()
        #expect(login.problem?.contains("state") == true)
        #expect(try await login.content(of: id(1)) == Array("secret 1".utf8))
        await #expect(throws: VaultError(.unreadable, reason: "")) { try await login.add() }
        await #expect(throws: VaultError(.unreadable, reason: "")) { try await login.deleteItem(id(1)) }
        #expect(login.itemCount == 3)
        await vault.close()
    }

    @Test func labelChangedInTheFile_sealedLabelWins() async throws {
        try await prepare()
        try tamper("UPDATE header SET label = 'Forged'")
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try #require(vault.collection(named: .login))
        #expect(login.label == "Forged")
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        #expect(login.label == "Login")
        await vault.close()
    }

    @Test(arguments: ["parameters", "wrapped", "checksum", "kind"])
    func keySlotDamaged_isReported_notAsAWrongPassword(column: String) async throws {
        try await prepare()
        let change = column == "kind" ? "kind + 1" : "CAST(substr(\(column), 2) || x'00' AS BLOB)"
        try tamper("UPDATE slot SET \(column) = \(change)")
        let vault = try await Vault.opened(Fixture.configuration(folder))
        guard case .unreadable(let reason) = vault.collection(named: .login)?.state else {
            Issue.record("the collection passes for readable")
            return
        }
        #expect(reason.contains("key slot"))
        await vault.close()
    }

    @Test(
        arguments: [
            "CREATE TRIGGER t AFTER INSERT ON item BEGIN DELETE FROM item; END",
            "CREATE VIEW v AS SELECT * FROM item", "CREATE TABLE other (x)", "CREATE INDEX i ON item (revision)",
            "ALTER TABLE item ADD COLUMN x ANY",
        ]
    )
    func schemaChanged_itemsAreRead_andNothingOfItRuns(sql: String) async throws {
        try await prepare()
        try tamper(sql)
        let before = try folder.bytes(of: "login.keychain")
        let (vault, login) = try await opened()
        #expect(login.problem?.contains("do not match") == true)
        #expect(try await login.content(of: id(1)) == Array("secret 1".utf8))
        await #expect(throws: VaultError.of(.unreadable)) { try await login.add() }
        await vault.close()
        #expect(try folder.bytes(of: "login.keychain") == before)
    }

    @Test(
        arguments: [
            "DROP TABLE slot", "DELETE FROM header", "DELETE FROM slot", "UPDATE header SET uuid = x'00'",
        ]
    )
    func headerOrSlotsRemoved_isUnreadable(sql: String) async throws {
        try await prepare()
        try tamper(sql)
        let before = try folder.bytes(of: "login.keychain")
        let vault = try await Vault.opened(Fixture.configuration(folder))
        guard case .unreadable = vault.collection(named: .login)?.state else {
            Issue.record("the collection passes for readable")
            return
        }
        await vault.close()
        #expect(try folder.bytes(of: "login.keychain") == before)
    }

    @Test func strayRow_isReported() async throws {
        try await prepare()
        try tamper("INSERT INTO item VALUES (-5, 1, x'', x'', x'')")
        let (vault, login) = try await opened()
        #expect(login.itemCount == 3)
        #expect(login.problem != nil)
        await vault.close()
    }
}

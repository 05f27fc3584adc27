import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Damaged and foreign files: no crash, nothing overwritten, and the rest of the vault works.
@VaultActor
@Suite struct DamageTests {
    private let folder = TemporaryFolder()

    private func prepare() async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        for number in 1...40 {
            let secret = String(repeating: "s\(number)", count: number % 10 == 0 ? 5000 : 10)
            try await login.add("label \(number)", ["n": "\(number)"], secret: secret)
        }
        await vault.close()
    }

    /// Opens the vault and returns the reason why `login` is unreadable.
    private func reason() async throws -> String? {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try #require(vault.collection(named: .login))
        // The alias still leads to it, and to no other collection.
        #expect(vault.collection(forAlias: "default") === login)
        await #expect(throws: VaultError.self) { try await login.unlock(with: Fixture.bytes(Fixture.password)) }
        await #expect(throws: VaultError.self) { try await login.add() }
        await #expect(throws: VaultError(.unreadable, reason: "")) { try await vault.delete(login) }
        #expect(login.problem != nil)
        // Other collections work.
        let other = try await vault.createCollection(label: "other", password: Fixture.bytes("pw"))
        try await other.add()
        try await vault.delete(other)
        await vault.close()
        guard case .unreadable(let reason) = login.state else { return nil }
        return reason
    }

    /// A file in the place of a keychain.
    enum ForeignFile: CaseIterable {
        case empty, keyring, database
    }

    @Test(arguments: ForeignFile.allCases)
    func foreignFile_isUnreadable_andUnchanged(file: ForeignFile) async throws {
        let expected: String
        switch file {
        case .empty:
            try folder.write([], to: "login.keychain")
            expected = "the file is empty"
        case .keyring:
            let text = "[keyring]\ndisplay-name=Default keyring\n" + String(repeating: "\n", count: 200)
            try folder.write(Array(text.utf8), to: "login.keychain")
            expected = "the file is not a database"
        case .database:
            try RawDatabase(folder.file("login.keychain")).execute("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
            expected = "the file is another program's database"
        }
        let before = try folder.bytes(of: "login.keychain")
        #expect(try await reason() == expected)
        #expect(try folder.bytes(of: "login.keychain") == before)
    }

    @Test(arguments: [1, 3, 5])
    func otherFormat_isUnreadable_andUnchanged(version: Int) async throws {
        try await prepare()
        try RawDatabase(folder.file("login.keychain")).execute("PRAGMA user_version = \(version)")
        let before = try folder.bytes(of: "login.keychain")
        let expected = "the file has format \(version); this version of keychaind reads format 4"
        #expect(try await reason() == expected)
        #expect(try folder.bytes(of: "login.keychain") == before)
    }

    @Test func folderOrLink_isUnreadable() async throws {
        try folder.makeFolder("login.keychain")
        try await prepare(elsewhere: "real")
        try folder.link("Linked.keychain", to: "real/login.keychain")
        let vault = try await Vault.opened(Fixture.configuration(folder))
        for name in ["login", "Linked"] {
            guard case .unreadable = CollectionName(encoded: name).flatMap(vault.collection(named:))?.state else {
                Issue.record("\(name) passes for readable")
                continue
            }
        }
        await vault.close()
    }

    @Test func fileWithAForeignName_isIgnored() async throws {
        try folder.write([1, 2, 3], to: "My Keys.keychain")
        try folder.write([1, 2, 3], to: "session.keychain")
        let vault = try await Vault.opened(Fixture.configuration(folder))
        #expect(vault.collections.map(\.name) == [.login, .session])
        await vault.close()
        #expect(try folder.bytes(of: "My Keys.keychain") == [1, 2, 3])
        #expect(try folder.bytes(of: "session.keychain") == [1, 2, 3])
    }

    @Test(arguments: [1, 99, 100, 512, 4095, 4096, 4097, 8192, 12_288, -4096, -1])
    func truncatedFile_isReported_andUnchanged(size: Int) async throws {
        try await prepare()
        let whole = try folder.bytes(of: "login.keychain")
        let cut = Array(whole.prefix(size < 0 ? whole.count + size : size))
        try folder.write(cut, to: "login.keychain")
        try await expectNoHarm(bytes: cut)
    }

    /// Flips a bit of the last row's ID, as a disk may.
    private func moveLastItem(to number: Int64) throws {
        try RawDatabase(folder.file("login.keychain")).execute("UPDATE item SET id = \(number) WHERE id = 40")
    }

    @Test func rowWithTooHighAnID_laterItemsAreFound() async throws {
        try await prepare()
        try moveLastItem(to: 104)
        var vault = try await Vault.opened(Fixture.configuration(folder))
        var login = try await vault.unlockedLogin()
        #expect(login.problem != nil)
        let id = try await login.add("new", ["n": "new"], secret: "new", replacing: true)
        #expect(login.search(["n": "new"]) == [id])
        #expect(try await login.content(of: id) == Array("new".utf8))
        #expect(try await login.add("newer", ["n": "new"], secret: "newer", replacing: true) == id)
        #expect(login.itemCount == 41)
        await vault.close()
        vault = try await Vault.opened(Fixture.configuration(folder))
        login = try await vault.unlockedLogin()
        #expect(login.search(["n": "new"]) == [id])
        #expect(try await login.content(of: id) == Array("newer".utf8))
        #expect(try await login.add("next") > id)
        #expect(login.itemCount == 42)
        await vault.close()
    }

    @Test func rowWithTheHighestID_refusesNewItems_andKeepsTheRest() async throws {
        try await prepare()
        try moveLastItem(to: .max)
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        await #expect(throws: VaultError.of(.unreadable)) { try await login.add("new") }
        #expect(try await login.content(of: login.itemIDs[0]) == Array(String(repeating: "s1", count: 10).utf8))
        try await login.updateItem(login.itemIDs[0], label: "changed")
        try await login.deleteItem(#require(ItemID(rawValue: UInt64(Int64.max))))
        #expect(login.itemCount == 39)
        await vault.close()
    }

    @Test(arguments: 0..<8)
    func flippedBits_neverCrashOrLoseData(seed: UInt64) async throws {
        try await prepare()
        let whole = try folder.bytes(of: "login.keychain")
        var generator = SeededGenerator(seed: seed)
        for round in 0..<25 {
            var bytes = whole
            // One bit, a few, or a bad block.
            for _ in 0..<[1, 1, 1, 8, 64][round % 5] {
                // Every other flip hits the first pages, with the structure of the file.
                let range = Bool.random(using: &generator) ? 0..<min(bytes.count, 12_288) : 0..<bytes.count
                let index = Int.random(in: range, using: &generator)
                bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            }
            try folder.write(bytes, to: "login.keychain")
            try await expectNoHarm(bytes: bytes)
        }
    }

    /// Opens and uses a damaged file; expects each item to be intact or reported as damaged, and the file unchanged.
    private func expectNoHarm(bytes: [UInt8]) async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try #require(vault.collection(named: .login))
        _ = login.search(["n": "7"])
        _ = try? await login.unlock(with: Fixture.bytes(Fixture.password))
        var intact = 0
        for id in login.itemIDs {
            guard let item = login.item(id), item.condition == .intact else { continue }
            guard let secret = try? await login.content(of: id) else { continue }
            let number = id.rawValue
            let expected = String(repeating: "s\(number)", count: number % 10 == 0 ? 5000 : 10)
            #expect(secret == Array(expected.utf8))
            #expect(item.label == "label \(number)")
            #expect(item.attributes == ["n": "\(number)"])
            intact += 1
        }
        if intact < 40, login.state == .unlocked { #expect(login.problem != nil) }
        await vault.close()
        #expect(try folder.bytes(of: "login.keychain") == bytes)
        for name in folder.names where name.hasPrefix("login.keychain-") { folder.remove(name) }
    }

    private func prepare(elsewhere name: String) async throws {
        try folder.makeFolder(name)
        let other = TemporaryFolder()
        let vault = try await Vault.opened(Fixture.configuration(other))
        _ = try await vault.unlockedLogin()
        await vault.close()
        try folder.write(other.bytes(of: "login.keychain"), to: name + "/login.keychain")
    }
}

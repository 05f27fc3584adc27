import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

@VaultActor
@Suite struct CollectionsTests {
    private let folder = TemporaryFolder()

    private func opened(limits: VaultLimits = VaultLimits()) async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder, limits: limits))
    }

    @Test func freshVault_hasLoginAndSession() async throws {
        let vault = try await opened()
        #expect(vault.collections.map(\.name) == [.login, .session])
        #expect(vault.collection(forAlias: "default")?.name == .login)
        #expect(vault.collection(forAlias: "login")?.name == .login)
        #expect(vault.collection(forAlias: "session")?.name == .session)
        #expect(vault.collection(forAlias: "other") == nil)
        #expect(vault.aliases.isEmpty)
        await vault.close()
    }

    @Test func createCollection_sameLabel_getsAnotherName() async throws {
        let vault = try await opened()
        var names: [String] = []
        for _ in 0..<3 {
            names.append(try await vault.createCollection(label: "Wörk", password: Fixture.bytes("pw")).name.encoded)
        }
        names.append(try await vault.createCollection(label: "login", password: Fixture.bytes("pw")).name.encoded)
        names.append(try await vault.createCollection(label: "", password: Fixture.bytes("pw")).name.encoded)
        #expect(names == ["W_c3_b6rk", "W_c3_b6rk2", "W_c3_b6rk3", "login2", "unnamed"])
        await vault.close()
        let reopened = try await opened()
        #expect(reopened.collections.count == 7)
        #expect(CollectionName(encoded: "W_c3_b6rk3").flatMap(reopened.collection(named:))?.label == "Wörk")
        await reopened.close()
    }

    @Test func createCollection_sameLabelConcurrently_allAreCreated() async throws {
        let vault = try await opened()
        let tasks = (0..<4).map { number in
            Task { @VaultActor in
                let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("pw \(number)"))
                return work.name
            }
        }
        var names: Set<CollectionName> = []
        for task in tasks { names.insert(try await task.value) }
        #expect(names.count == 4)
        await vault.close()
    }

    @Test func createCollection_crashBeforeTheRename_leavesNothing() async throws {
        let vault = try await opened()
        _ = try await vault.createCollection(label: "Work", password: Fixture.bytes("pw"))
        await vault.close()
        // Leftovers of a crash: the unfinished file, complete or not, and its journal.
        let whole = try folder.bytes(of: "Work.keychain")
        try folder.write(whole, to: "Half.keychain-new")
        try folder.write(Array(whole.prefix(5000)), to: "Less.keychain-new")
        try folder.write([1, 2, 3], to: "restore-x.keychain-new-new")
        try folder.write([], to: "None.keychain-new")
        let reopened = try await opened()
        #expect(reopened.collections.map(\.name.encoded) == ["Work", "login", "session"])
        await reopened.close()
        #expect(folder.names == ["Work.keychain", "index.key", "lock", "state"])
    }

    @Test func session_isUnlocked_holdsSecretsOfAnySize_andWritesNothing() async throws {
        let vault = try await opened()
        let session = try #require(vault.collection(named: .session))
        #expect(session.state == .unlocked)
        #expect(session.isEphemeral)
        let large = String(repeating: "x", count: 100_000)
        let id = try await session.add("label", ["a": "1"], secret: large)
        session.lock()
        #expect(session.state == .unlocked)
        let isResident = try session.secret(of: id)?.content == Array(large.utf8)
        #expect(isResident)
        try await session.updateItem(id, label: "other")
        #expect(try await session.content(of: id) == Array(large.utf8))
        #expect(try await session.add("x", ["a": "1"], replacing: true) == id)
        #expect(session.search(["a": "1"]) == [id])
        try await session.deleteItem(id)
        try await session.setLabel("Renamed")
        #expect(session.itemCount == 0)
        #expect(folder.names == ["index.key", "lock", "state"])
        try await session.add()
        await vault.close()
        let reopened = try await opened()
        #expect(reopened.collection(named: .session)?.itemCount == 0)
        await reopened.close()
    }

    @Test func stateFileDamaged_isSetAside_andTheVaultWorks() async throws {
        try folder.write(Array("not a log".utf8), to: "state")
        let vault = try await opened()
        try await vault.setAlias("mine", to: vault.collection(named: .login))
        await vault.close()
        #expect(try folder.bytes(of: "state.unreadable") == Array("not a log".utf8))
        let reopened = try await opened()
        #expect(reopened.aliases == ["mine": .login])
        await reopened.close()
    }

    @Test func limits_exceeded_areRefused() async throws {
        var limits = VaultLimits()
        limits.items = 3
        limits.labelBytes = 10
        limits.attributes = 2
        limits.attributeBytes = 40
        limits.contentTypeBytes = 10
        limits.collections = 3
        let vault = try await opened(limits: limits)
        let login = try await vault.unlockedLogin()
        let exceeded = VaultError(.limitExceeded, reason: "")
        await #expect(throws: exceeded) { try await login.add("eleven byte", ["a": "b"]) }
        await #expect(throws: exceeded) { try await login.add("x", ["a": "1", "b": "2", "c": "3"]) }
        await #expect(throws: exceeded) { try await login.add("x", ["a": String(repeating: "x", count: 40)]) }
        await #expect(throws: exceeded) { try await login.setLabel("eleven byte") }
        await #expect(throws: exceeded) {
            _ = try await login.createItem(
                label: "",
                attributes: [:],
                secret: Fixture.secret("", contentType: "12345678901"),
                replacing: false
            )
        }
        for number in 0..<3 { try await login.add("x", ["n": "\(number)"]) }
        await #expect(throws: exceeded) { try await login.add("x", ["n": "4"]) }
        // A replacement needs no room.
        try await login.add("x", ["n": "2"], replacing: true)
        #expect(login.itemCount == 3)
        _ = try await vault.createCollection(label: "one", password: Fixture.bytes("pw"))
        await #expect(throws: exceeded) {
            _ = try await vault.createCollection(label: "two", password: Fixture.bytes("pw"))
        }
        await vault.close()
    }

    @Test func missingItem_isReported() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try #require(ItemID(rawValue: 7))
        let missing = VaultError(.noSuchItem, reason: "")
        #expect(!login.contains(id))
        #expect(login.item(id) == nil)
        #expect(throws: missing) { _ = try login.secret(of: id) }
        await #expect(throws: missing) { _ = try await login.storedSecret(of: id) }
        await #expect(throws: missing) { try await login.updateItem(id, label: "x") }
        await #expect(throws: missing) { try await login.deleteItem(id) }
        await vault.close()
    }

    /// The files of a vault with one item in `login`, after a close or a crash.
    private func backup(afterACrash: Bool) async throws -> (TemporaryFolder, ItemID) {
        let source = TemporaryFolder()
        let vault = try await Vault.opened(Fixture.configuration(source))
        let id = try await vault.unlockedLogin("old").add("kept", secret: "kept")
        let crashed = try source.snapshot()
        await vault.close()
        return (afterACrash ? crashed : source, id)
    }

    @Test(arguments: [false, true])
    func loginRestoredWhileOpen_isNotOverwritten(afterACrash: Bool) async throws {
        let (backup, id) = try await backup(afterACrash: afterACrash)
        let vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        #expect(login.state == .vacant)
        try folder.write(backup.bytes(of: "login.keychain"), to: "login.keychain")
        await #expect(throws: VaultError.of(.busy)) { try await login.unlock(with: Fixture.bytes("new")) }
        #expect(login.state == .locked)
        #expect(try folder.bytes(of: "login.keychain") == backup.bytes(of: "login.keychain"))
        #expect(folder.names.filter { $0.hasSuffix("-new") }.isEmpty)
        await #expect(throws: VaultError.of(.wrongPassword)) { try await login.unlock(with: Fixture.bytes("new")) }
        try await login.unlock(with: Fixture.bytes("old"))
        #expect(try await login.content(of: id) == Array("kept".utf8))
        try await login.add("more")
        await vault.close()
    }

    @Test func damagedLoginRestoredWhileOpen_isNotOverwritten() async throws {
        let vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        try folder.write([1, 2, 3], to: "login.keychain")
        await #expect(throws: VaultError.of(.busy)) { try await login.unlock(with: Fixture.bytes("new")) }
        guard case .unreadable = login.state else {
            Issue.record("it is \(login.state)")
            return
        }
        #expect(try folder.bytes(of: "login.keychain") == [1, 2, 3])
        await vault.close()
    }

    @Test func collectionInMemory_isFullAtItsLimit_untilItemsAreDeleted() async throws {
        var limits = VaultLimits()
        limits.memoryBytes = 20_000
        let vault = try await Vault.opened(Fixture.configuration(folder, limits: limits))
        let session = try #require(vault.collection(named: .session))
        func secret(_ count: Int) -> String { String(repeating: "x", count: count) }
        let first = try await session.add("first", ["n": "1"], secret: secret(6000))
        await #expect(throws: VaultError.of(.limitExceeded)) {
            try await session.add("second", ["n": "2"], secret: secret(6000))
        }
        #expect(session.itemIDs == [first])
        try await session.updateItem(first, secret: Fixture.secret(secret(9000)))
        await #expect(throws: VaultError.of(.limitExceeded)) {
            try await session.updateItem(first, label: secret(1000), secret: Fixture.secret(secret(9000)))
        }
        #expect(try await session.content(of: first) == Array(secret(9000).utf8))
        try await session.deleteItem(first)
        for number in 0..<20 {
            try await session.add("same", ["same": "yes"], secret: secret(8000 + number), replacing: true)
        }
        #expect(session.itemCount == 1)
        // Collections on the disk have no such limit.
        try await vault.unlockedLogin().add("large", secret: secret(20_000))
        await vault.close()
    }

    @Test func collectionInMemory_hasRoomForFurtherOwners() async throws {
        final class Program: WorkProgram {}
        var limits = VaultLimits()
        limits.memoryBytes = 100_000
        let vault = try await Vault.opened(Fixture.configuration(folder, limits: limits))
        let session = try #require(vault.collection(named: .session))
        func add(_ name: String, _ count: Int, for program: Program) async throws -> ItemID {
            try await WorkOwner.$current.withValue(.program(program)) {
                try await session.add(name, ["n": name], secret: String(repeating: "x", count: count))
            }
        }
        let (greedy, modest, third) = (Program(), Program(), Program())
        let first = try await add("first", 40_000, for: greedy)
        await #expect(throws: VaultError.of(.limitExceeded)) { _ = try await add("more", 10_000, for: greedy) }
        let second = try await add("second", 20_000, for: modest)
        await #expect(throws: VaultError.of(.limitExceeded)) { _ = try await add("more", 10_000, for: modest) }
        _ = try await add("third", 10_000, for: third)
        // An item counts as that of the program that has changed it last.
        try await WorkOwner.$current.withValue(.program(third)) {
            try await session.updateItem(second, secret: Fixture.secret("small"))
        }
        try await session.deleteItem(first)
        _ = try await add("first", 40_000, for: modest)
        await vault.close()
    }
}

import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// Acknowledged changes survive a close and a crash.
@VaultActor
@Suite struct PersistenceTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder, clock: clock))
    }

    @Test func createItem_isStoredCompletely() async throws {
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        let secret = try Fixture.secret([0, 10, 13, 255, 254, 0], contentType: "application/x-thing; a=b")
        let creation = try await login.createItem(
            label: "Ünï\n☃",
            attributes: ["": "empty name", "name": "", "ключ": "значение"],
            secret: secret,
            replacing: false
        )
        let before = try #require(login.item(creation.id))
        await vault.close()

        vault = try await opened()
        #expect(vault.collection(named: .login)?.state == .locked)
        login = try await vault.unlockedLogin()
        #expect(login.item(creation.id) == before)
        let stored = try await login.storedSecret(of: creation.id)
        #expect(stored.content == [0, 10, 13, 255, 254, 0])
        #expect(stored.contentType == "application/x-thing; a=b")
        #expect(login.problem == nil)
        await vault.close()
    }

    @Test func everyChange_isStored() async throws {
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        let id = try await login.add("before", ["a": "1"], secret: "old")
        let other = try await login.add("other", ["b": "2"])
        let created = try #require(login.item(id)?.created)
        clock.advance(seconds: 10)
        try await login.updateItem(id, label: "after")
        clock.advance(seconds: 10)
        try await login.updateItem(id, attributes: ["c": "3"])
        clock.advance(seconds: 10)
        try await login.updateItem(id, secret: Fixture.secret("new", contentType: "x/y"))
        try await login.deleteItem(other)
        try await login.setLabel("Another label")
        let modified = login.modified
        await vault.close()

        vault = try await opened()
        #expect(vault.collection(named: .login)?.label == "Another label")
        login = try await vault.unlockedLogin()
        let item = try #require(login.item(id))
        #expect(item.label == "after")
        #expect(item.attributes == ["c": "3"])
        #expect(item.created == created)
        #expect(item.modified.seconds == created.seconds + 30)
        #expect(login.modified == modified)
        #expect(try await login.content(of: id) == Array("new".utf8))
        #expect(login.itemIDs == [id])
        #expect(login.label == "Another label")
        #expect(login.search(["a": "1"]).isEmpty)
        #expect(login.search(["c": "3"]) == [id])
        #expect(login.problem == nil)
        await vault.close()
    }

    @Test func everyChange_crashAfterTheReply_isStored() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        var expected: [ItemID: String] = [:]
        for round in 0..<12 {
            switch round % 4 {
            case 0, 1:
                let id = try await login.add("item \(round)", ["n": "\(round)"], secret: "secret \(round)")
                expected[id] = "secret \(round)"
            case 2:
                let id = try #require(login.itemIDs.last)
                try await login.updateItem(id, secret: Fixture.secret("updated \(round)"))
                expected[id] = "updated \(round)"
            default:
                let id = try #require(login.itemIDs.first)
                try await login.deleteItem(id)
                expected[id] = nil
            }
            let copy = try folder.snapshot()
            let survivor = try await Vault.opened(Fixture.configuration(copy))
            let restored = try await survivor.unlockedLogin()
            #expect(Set(restored.itemIDs) == Set(expected.keys), "after change \(round)")
            for (id, secret) in expected {
                #expect(try await restored.content(of: id) == Array(secret.utf8))
            }
            #expect(restored.problem == nil)
            await survivor.close()
            #expect(copy.names.contains("login.keychain"))
        }
        await vault.close()
    }

    @Test func aliases_afterACloseAndACrash_areStored() async throws {
        var vault = try await opened()
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("pw"))
        try await vault.setAlias("default", to: work)
        try await vault.setAlias("mine", to: work)
        try await vault.setAlias("gone", to: work)
        try await vault.setAlias("gone", to: nil)
        let copy = try folder.snapshot()
        let crashed = try await Vault.opened(Fixture.configuration(copy))
        #expect(crashed.aliases == ["default": work.name, "mine": work.name])
        await crashed.close()
        #expect(copy.names.contains("state"))
        await vault.close()

        vault = try await opened()
        #expect(vault.collection(forAlias: "default")?.name == work.name)
        #expect(vault.collection(forAlias: "mine")?.label == "Work")
        #expect(vault.collection(forAlias: "gone") == nil)
        await vault.close()
    }

    @Test(arguments: [0, 1, 4096, 4097, 1 << 20])
    func secret_ofAnySize_isStoredExactly(size: Int) async throws {
        let bytes = (0..<size).map { index in UInt8(truncatingIfNeeded: index &* 31 ^ index >> 8) }
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        let id = try await login.createItem(
            label: "",
            attributes: [:],
            secret: Fixture.secret(bytes),
            replacing: false
        ).id
        #expect(try await login.content(of: id) == bytes)
        await vault.close()
        vault = try await opened()
        login = try await vault.unlockedLogin()
        #expect(try await login.content(of: id) == bytes)
        await vault.close()
    }

    @Test func secret_ofTheLargestSize_isStored_oneByteMoreIsRefused() async throws {
        let limit = VaultLimits().secretBytes
        var bytes = [UInt8](repeating: 0, count: limit)
        for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index &* 2_654_435_761 >> 13) }
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        let id = try await login.createItem(
            label: "large",
            attributes: ["size": "16 MiB"],
            secret: Fixture.secret(bytes),
            replacing: false
        ).id
        let tooLarge = bytes + [0]
        await #expect(throws: VaultError(.limitExceeded, reason: "")) {
            try await login.updateItem(id, secret: Fixture.secret(tooLarge))
        }
        await #expect(throws: VaultError(.limitExceeded, reason: "")) {
            _ = try await login.createItem(
                label: "",
                attributes: [:],
                secret: Fixture.secret(tooLarge),
                replacing: false
            )
        }
        await vault.close()
        vault = try await opened()
        login = try await vault.unlockedLogin()
        let isResident = try login.secret(of: id) != nil
        #expect(!isResident)
        let same = try await login.content(of: id) == bytes
        #expect(same)
        await vault.close()
    }

    @Test func attributes_of64KiB_areStoredAndFound() async throws {
        let attributes: Attributes = ["long": String(repeating: "ü", count: 32 * 1024), "name": "x"]
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        let id = try await login.add("long", attributes)
        await vault.close()
        vault = try await opened()
        #expect(vault.collection(named: .login)?.search(attributes) == [id])
        login = try await vault.unlockedLogin()
        #expect(login.item(id)?.attributes == attributes)
        await vault.close()
    }

    @Test func itemIDs_afterADeletion_areNotReused() async throws {
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        let first = try await login.add()
        let second = try await login.add()
        try await login.deleteItem(second)
        await vault.close()
        vault = try await opened()
        login = try await vault.unlockedLogin()
        let third = try await login.add()
        #expect(first < second && second < third)
        await vault.close()
    }

    @Test func close_leavesOneFilePerCollection() async throws {
        let vault = try await opened()
        try await vault.unlockedLogin().add()
        await vault.close()
        #expect(folder.names == ["index.key", "lock", "login.keychain", "state"])
    }

    @Test func files_arePrivate() async throws {
        let vault = try await opened()
        try await vault.unlockedLogin().add()
        for name in folder.names {
            #expect(folder.permissions(of: name) & 0o077 == 0, "\(name)")
        }
        #expect(folder.permissions(of: ".") & 0o077 == 0)
        await vault.close()
    }
}

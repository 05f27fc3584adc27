import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

@VaultActor
@Suite struct IndexKeyTests {
    private let folder = TemporaryFolder()

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder))
    }

    private func prepare() async throws -> ItemID {
        let vault = try await opened()
        let id = try await vault.unlockedLogin().add("x", ["service": "mail", "user": "me"])
        await vault.close()
        return id
    }

    @Test func keyLost_searchFindsNothing_untilAnUnlockRebuildsTheIndex() async throws {
        let id = try await prepare()
        folder.remove("index.key")
        var vault = try await opened()
        var login = try #require(vault.collection(named: .login))
        #expect(login.search(["service": "mail"]).isEmpty)
        #expect(login.problem?.contains("search") == true)
        #expect(login.itemIDs == [id])
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        #expect(login.search(["service": "mail"]) == [id])
        #expect(login.problem == nil)
        #expect(try await login.content(of: id) == Array("secret".utf8))
        await vault.close()

        vault = try await opened()
        login = try #require(vault.collection(named: .login))
        #expect(login.problem == nil)
        #expect(login.search(["service": "mail", "user": "me"]) == [id])
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        #expect(login.problem == nil)
        #expect(login.item(id)?.condition == .intact)
        await vault.close()
    }

    @Test func keyDamaged_isSetAside() async throws {
        let id = try await prepare()
        try folder.write([1, 2, 3], to: "index.key")
        let vault = try await opened()
        #expect(try folder.bytes(of: "index.key.unreadable") == [1, 2, 3])
        #expect(try await vault.unlockedLogin().search(["user": "me"]) == [id])
        await vault.close()
    }

    @Test func keyLost_fullDisk_worksInMemory() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        for number in 0..<50 { try await login.add("x", ["n": "\(number)"]) }
        await vault.close()
        folder.remove("index.key")
        let full = try await Vault.opened(Fixture.configuration(folder, fileSize: 0))
        let reopened = try await full.unlockedLogin()
        #expect(reopened.search(["n": "7"]).count == 1)
        #expect(reopened.itemCount == 50)
        await full.close()
        let again = try await opened()
        #expect(try await again.unlockedLogin().search(["n": "7"]).count == 1)
        await again.close()
    }

    @Test func attributes_areNotInTheFile() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try await login.add("visible-label", ["visible-name": "visible-value"], secret: "visible-secret")
        let copy = try folder.snapshot()
        await vault.close()
        for name in copy.names {
            let bytes = try copy.bytes(of: name)
            for text in ["visible-label", "visible-name", "visible-value", "visible-secret"] {
                #expect(!contains(bytes, Array(text.utf8)), "\(text) in \(name)")
            }
        }
    }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        guard let first = part.first, bytes.count >= part.count else { return false }
        return bytes.indices.dropLast(part.count - 1).contains { index in
            bytes[index] == first && bytes[index..<index + part.count].elementsEqual(part)
        }
    }
}

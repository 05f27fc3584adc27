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

    @Test(arguments: ["", "[keyring]\ndisplay-name=Default keyring\n", "SQLite format 3\u{0}", "KCHNLOG\u{0}"])
    func foreignFile_isUnreadable_andUnchanged(start: String) async throws {
        let bytes = Array(start.utf8) + [UInt8](repeating: 1, count: start.isEmpty ? 0 : 9000)
        try folder.write(bytes, to: "login.keychain")
        #expect(try await reason() == "the file has no header")
        #expect(try folder.bytes(of: "login.keychain") == bytes)
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

    @Test(arguments: [1, 79, 80, 4096, 4175, 4176, 8000, 12_368, 12_400, 16_384, -10_000, -1])
    func truncatedFile_isReported_andUnchanged(size: Int) async throws {
        try await prepare()
        let image = try folder.image()
        let cut = Array(image.bytes.prefix(size < 0 ? image.end + size : size))
        try folder.write(cut, to: "login.keychain")
        try await expectNoHarm(bytes: cut)
    }

    @Test(arguments: 0..<8)
    func flippedBits_neverCrashOrLoseData(seed: UInt64) async throws {
        try await prepare()
        let image = try folder.image()
        var generator = SeededGenerator(seed: seed)
        for round in 0..<25 {
            var bytes = image.bytes
            // One bit, a few, or many.
            for _ in 0..<[1, 1, 1, 8, 64][round % 5] {
                let index = Int.random(in: 0..<image.end, using: &generator)
                bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            }
            try folder.write(bytes, to: "login.keychain")
            try await expectNoHarm(bytes: bytes)
        }
    }

    @Test func zeroedBlock_costsItsItemsOnly() async throws {
        try await prepare()
        let image = try folder.image()
        for block in stride(from: 0, to: image.end, by: 4096) {
            var damaged = image
            damaged.zero(block..<min(block + 4096, image.end))
            try folder.write(damaged.bytes, to: "login.keychain")
            let hit = image.frames.count { frame in
                frame.kind == LogImage.item && frame.range.overlaps(block..<block + 4096)
            }
            let intact = try await expectNoHarm(bytes: damaged.bytes)
            // A frame that can be read hides those in the block behind it until the next.
            #expect(intact >= 40 - hit - 1, "block \(block)")
        }
    }

    /// Opens and uses a damaged file; expects each item to be intact or reported as damaged, and the file unchanged.
    ///
    /// - Returns: the number of intact items.
    @discardableResult
    private func expectNoHarm(bytes: [UInt8]) async throws -> Int {
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
        return intact
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

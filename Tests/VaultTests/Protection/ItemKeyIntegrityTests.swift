import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
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

    private func id(_ number: UInt64) throws -> ItemID {
        try #require(ItemID(rawValue: number))
    }

    @Test(arguments: ["metadata", "secret", "both"])
    func partsSwapped_nothingOpens(part: String) async throws {
        try await prepare()
        try folder.tamper { image in
            let frames = [try image.last(LogImage.item, 1), try image.last(LogImage.item, 2)]
            func swap(_ ranges: [Range<Int>]) {
                let parts = ranges.map { range in Array(image.bytes[range]) }
                image.bytes.replaceSubrange(ranges[0], with: parts[1])
                image.bytes.replaceSubrange(ranges[1], with: parts[0])
            }
            if part != "secret" { swap(frames.map(\.metadata)) }
            if part != "metadata" { swap(frames.map(\.secret)) }
        }
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
        var (vault, login) = try await opened()
        let key = try await login.key(of: id(1), in: vault, passcode: Fixture.password)
        let before = try folder.image()
        let old = Array(before.bytes[try before.last(LogImage.item, 1).secret])
        // The key stays the same, so only the revision distinguishes the secrets.
        try await login.updateItem(id(1), secret: Fixture.secret("secret 9"), key: key)
        await vault.close()
        try folder.tamper { image in
            let place = try image.last(LogImage.item, 1).secret
            try #require(place.count == old.count)
            image.bytes.replaceSubrange(place, with: old)
        }
        (vault, login) = try await opened()
        #expect(throws: VaultError.of(.unreadable)) { _ = try login.secret(of: id(1), with: key) }
        #expect(login.problem != nil)
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

import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Changes of a file without its key, while no vault is open.
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

    @Test func removedFrame_isReported_andStaysReported() async throws {
        try await prepare()
        try folder.tamper { image in
            let frame = try image.last(LogImage.item, 2)
            image.bytes.removeSubrange(frame.range)
            image.bytes += [UInt8](repeating: 0, count: frame.range.count)
        }
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

    @Test func frameOfAnEarlierFile_isNotTaken() async throws {
        try await prepare()
        let before = try folder.image()
        let old = try before.last(LogImage.item, 3)
        var (vault, login) = try await opened()
        try await login.updateItem(id(3), secret: Fixture.secret("secret 9"))
        await vault.close()
        try folder.tamper { image in
            let new = try image.last(LogImage.item, 3)
            try #require(new.range.count == old.range.count)
            image.bytes.replaceSubrange(new.range, with: before.bytes[old.range])
        }
        (vault, login) = try await opened()
        #expect(login.problem != nil)
        await vault.close()
    }

    @Test func secretsSwapped_areNotReleased() async throws {
        try await prepare()
        try folder.tamper { image in
            let (one, two) = (try image.last(LogImage.item, 1).secret, try image.last(LogImage.item, 2).secret)
            let bytes = (Array(image.bytes[one]), Array(image.bytes[two]))
            image.bytes.replaceSubrange(one, with: bytes.1)
            image.bytes.replaceSubrange(two, with: bytes.0)
        }
        let (vault, login) = try await opened()
        for number: UInt64 in 1...2 {
            #expect(throws: VaultError(.unreadable, reason: "")) { _ = try login.secret(of: id(number)) }
        }
        #expect(login.problem != nil)
        #expect(try await login.content(of: id(3)) == Array("secret 3".utf8))
        await vault.close()
    }

    @Test(arguments: ["metadata", "secret", "tags", "header"])
    func frameDamaged_onlyThatItemIsDamaged_andIsKept(part: String) async throws {
        try await prepare()
        try folder.tamper { image in
            let frame = try image.last(LogImage.item, 2)
            switch part {
            case "metadata": image.flip(frame.metadata.lowerBound)
            case "secret": image.flip(frame.secret.lowerBound)
            case "tags": image.flip(frame.open.lowerBound + 8)
            default: image.flip(frame.range.lowerBound + 60)
            }
        }
        let spoiled = try folder.image()
        var (vault, login) = try await opened()
        if part == "header" {
            #expect(!login.contains(try id(2)))
        } else {
            #expect(throws: VaultError(.unreadable, reason: "")) { _ = try login.secret(of: id(2)) }
            guard case .damaged = login.item(try id(2))?.condition else {
                Issue.record("the item passes for intact")
                return
            }
            await #expect(throws: VaultError(.unreadable, reason: "")) { try await login.updateItem(id(2), label: "x") }
        }
        #expect(login.problem != nil)
        #expect(try await login.content(of: id(1)) == Array("secret 1".utf8))
        // A replacement must not overwrite it either.
        let outcome = try await login.createItem(
            label: "new",
            attributes: ["n": "2", "all": "yes"],
            secret: Fixture.secret("new"),
            replacing: true
        )
        #expect(outcome.id != (try id(2)))
        await vault.close()
        #expect(try folder.bytes(of: "login.keychain").prefix(spoiled.end) == spoiled.bytes.prefix(spoiled.end))

        (vault, login) = try await opened()
        if part != "header" {
            // An explicit deletion removes it.
            try await login.deleteItem(id(2))
        }
        #expect(login.search(["n": "2"]).count == 1)
        await vault.close()
    }

    @Test func damagedItem_isStillFoundByItsTags() async throws {
        try await prepare()
        try folder.tamper { image in image.zero(try image.last(LogImage.item, 2).metadata) }
        let (vault, login) = try await opened()
        #expect(login.search(["n": "2"]) == [try id(2)])
        #expect(login.search(["n": "2", "all": "yes"]) == [try id(2)])
        #expect(login.search(["all": "yes"]).count == 3)
        try await login.deleteItem(id(2))
        #expect(login.search(["n": "2"]).isEmpty)
        await vault.close()
    }

    @Test func stateDamaged_isReported_andNoNumberIsUsedTwice() async throws {
        try await prepare()
        try folder.tamper { image in image.flip(try image.last(LogImage.state, 0).metadata.lowerBound) }
        let (vault, login) = try await opened()
        #expect(login.problem?.contains("state") == true)
        #expect(try await login.content(of: id(1)) == Array("secret 1".utf8))
        #expect(try await login.add("new") == id(4))
        await vault.close()
    }

    @Test(arguments: [[0], [1], [0, 1]])
    func keySlotsDamaged_oneCopyIsEnough(copies: [UInt64]) async throws {
        try await prepare()
        try folder.tamper { image in
            for copy in copies { image.zero(try image.last(LogImage.slots, copy).open) }
        }
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try #require(vault.collection(named: .login))
        if copies.count == 1 {
            #expect(try await vault.unlockedLogin().itemCount == 3)
            #expect(login.problem?.contains("key slots") == true)
            _ = try await vault.salvage(login)
            #expect(login.problem == nil && login.itemCount == 3)
        } else {
            guard case .unreadable(let reason) = login.state else {
                Issue.record("the collection passes for readable")
                return
            }
            #expect(reason.contains("key slot"))
        }
        await vault.close()
    }
}

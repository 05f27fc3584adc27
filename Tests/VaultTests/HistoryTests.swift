import Glibc
import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Past states of a keychain: in its own file, and former files.
@VaultActor
@Suite struct HistoryTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()
    private let day: Int64 = 24 * 60 * 60

    private func opened(generations: Int = 3) async throws -> Vault {
        var configuration = Fixture.configuration(folder, clock: clock, generations: generations)
        configuration.idleMilliseconds = 1
        return try await Vault.opened(configuration)
    }

    private func past(_ vault: Vault) async throws -> [StoredCopy] {
        try await vault.copies(nil).filter { copy in copy.kind == .generation }
    }

    @Test func stateBeforeTheFirstChangeOfADay_isKept_forSomeDays() async throws {
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        for number in 1...3 { try await login.add("x", ["n": "\(number)"]) }
        #expect(try await past(vault).isEmpty)
        for number in 4...9 {
            clock.advance(seconds: day)
            try await login.add("x", ["n": "\(number)"])
            try await login.add("x", ["m": "\(number)"])
            await vault.close()
            vault = try await opened()
            login = try await vault.unlockedLogin()
            #expect(try await past(vault).count == min(number - 3, 3))
        }
        #expect(try await past(vault).map(\.itemCount) == [9, 11, 13])
        // Nothing is kept for an unlock alone.
        clock.advance(seconds: day)
        #expect(try await past(vault).count == 3)
        await vault.close()
    }

    @Test func pastState_isRestored_withTheItemsOfThatDay_andThePresentPassword() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try await login.add("precious", ["n": "1"], secret: "precious")
        let gone = try await login.add("gone", ["n": "2"], secret: "gone")
        clock.advance(seconds: day)
        try await login.updateItem(id, label: "spoiled", secret: Fixture.secret("by a confused program"))
        try await login.deleteItem(gone)
        try await login.add("new", ["n": "3"])
        try await login.changePassword(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("new password"))
        let copy = try #require(try await past(vault).last)
        let staged = try await vault.stage(copy: copy.id, nil)
        let restored = try await vault.restore(staged, as: .login, inPlaceOf: login)
        #expect(restored.search(["n": "1"]) == [id])
        await #expect(throws: VaultError.of(.wrongPassword)) {
            try await restored.unlock(with: Fixture.bytes(Fixture.password))
        }
        try await restored.unlock(with: Fixture.bytes("new password"))
        #expect(restored.itemIDs == [id, gone] && restored.problem == nil)
        #expect(try await restored.content(of: id) == Array("precious".utf8))
        #expect(try await restored.content(of: gone) == Array("gone".utf8))
        // What was restored over is a former file, and can be restored, too.
        let former = try #require(try await past(vault).last { copy in copy.file.contains("past") })
        let back = try await vault.stage(copy: former.id, nil)
        let again = try await vault.restore(back, as: .login, inPlaceOf: restored)
        try await again.unlock(with: Fixture.bytes("new password"))
        #expect(again.itemCount == 2 && again.item(id)?.label == "spoiled")
        await vault.close()
    }

    @Test func pastState_needsAnUnlockSinceTheStart() async throws {
        var vault = try await opened()
        try await vault.unlockedLogin().add()
        clock.advance(seconds: day)
        try await vault.unlockedLogin().add()
        await vault.close()
        vault = try await opened()
        let copy = try #require(try await past(vault).first)
        await #expect(throws: VaultError.of(.locked)) { _ = try await vault.stage(copy: copy.id, nil) }
        try await vault.unlockedLogin().lock()
        #expect(try await vault.stage(copy: copy.id, nil).itemCount == 1)
        await vault.close()
    }

    @Test func restores_leaveAsManyFormerFiles_asDays() async throws {
        let vault = try await opened()
        try await vault.unlockedLogin().add()
        clock.advance(seconds: day)
        try await vault.unlockedLogin().add()
        for _ in 0..<5 {
            // The clock may stand still.
            let login = try await vault.unlockedLogin()
            let copy = try #require(try await past(vault).first)
            _ = try await vault.restore(vault.stage(copy: copy.id, nil), as: .login, inPlaceOf: login)
        }
        #expect(folder.names.filter { name in name.hasPrefix("login.keychain-past-") }.count == 3)
        await vault.close()
    }

    @Test(arguments: ["userPresence", "devicePasscode"])
    func itemThatIsProtected_isInNoPastState(accessControl: String) async throws {
        let vault = try await opened()
        var login = try await vault.unlockedLogin()
        let secret = "a secret that is well known"
        let id = try await login.add("bank", ["service": "bank"], secret: secret)
        let sealed = try folder.image().last(LogImage.item, id.rawValue)
        let open = Array(try folder.bytes(of: "login.keychain")[sealed.secret])
        clock.advance(seconds: day)
        try await login.add("other")
        // A former file has it, too.
        let copy = try #require(try await past(vault).first)
        login = try await vault.restore(vault.stage(copy: copy.id, nil), as: .login, inPlaceOf: login)
        login = try await vault.unlockedLogin()
        clock.advance(seconds: day)
        try await login.add("third")
        try await login.updateItem(id, attributes: .protected(accessControl))
        for name in folder.names where name.hasPrefix("login") {
            // A policy that no key enforces leaves the secret as it is sealed.
            let isPresent = name == "login.keychain" && accessControl == "userPresence"
            #expect(try folder.bytes(of: name).ranges(of: open).count == (isPresent ? 1 : 0), "\(name)")
        }
        let copies = try await past(vault)
        #expect(copies.count >= 2)
        for copy in copies {
            let contents = try await vault.contents(
                of: vault.stage(copy: copy.id, nil),
                openedBy: Fixture.bytes(Fixture.password)
            )
            #expect(!login.differences(from: contents).contains { $0.item == id && $0.kind != .added })
        }
        await vault.close()
    }

    @Test func formerFileThatCannotBeChanged_isRemoved_whenAnItemIsProtected() async throws {
        let vault = try await opened()
        var login = try await vault.unlockedLogin()
        let id = try await login.add("bank", ["service": "bank"])
        try await login.add("other")
        try folder.write([UInt8](repeating: 7, count: 10_000), to: "login.keychain-past-1700000000")
        try await login.updateItem(id, attributes: .protected("userPresence"))
        #expect(!folder.names.contains { name in name.contains("-past-") })
        login = try await vault.unlockedLogin()
        #expect(login.itemCount == 2)
        await vault.close()
    }

    @Test func withoutHistory_nothingOfAReplacedOrDeletedItemStays() async throws {
        let vault = try await opened(generations: 0)
        let login = try await vault.unlockedLogin()
        let ids = [try await login.add("x", ["n": "1"], secret: "one"), try await login.add("x", ["n": "2"])]
        let image = try folder.image()
        let old = try ids.map { id in Array(image.bytes[try image.last(LogImage.item, id.rawValue).secret]) }
        try await login.updateItem(ids[0], secret: Fixture.secret("two"))
        try await login.deleteItem(ids[1])
        clock.advance(seconds: day)
        try await login.add("next")
        await vault.close()
        let bytes = try folder.bytes(of: "login.keychain")
        for secret in old { #expect(bytes.firstRange(of: secret) == nil) }
        let again = try await opened(generations: 0)
        #expect(try await past(again).isEmpty)
        #expect(try await again.unlockedLogin().problem == nil)
        await again.close()
    }

    @Test func manyChanges_ofOneDay_keepTheFileSmall() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try await login.add("x", ["n": "1"])
        for number in 0..<3000 { try await login.updateItem(id, label: "\(number)") }
        await vault.close()
        #expect(try folder.bytes(of: "login.keychain").count < 1 << 20)
        let again = try await opened()
        #expect(try await again.unlockedLogin().item(id)?.label == "2999")
        await again.close()
    }

    @Test func clockThatGoesBack_losesNoState() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try await login.add("x", ["n": "1"])
        clock.advance(seconds: -400 * day)
        try await login.add("x", ["n": "2"])
        clock.advance(seconds: 4000 * day)
        try await login.add("x", ["n": "3"])
        #expect(try await past(vault).map(\.itemCount).sorted() == [1, 2])
        await vault.close()
    }

    @Test func deletedCollection_isAFormerFile() async throws {
        let vault = try await opened()
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("pw"))
        try await work.add("kept", secret: "kept")
        try await vault.delete(work)
        #expect(vault.collections.map(\.name) == [.login, .session])
        let copy = try #require(try await past(vault).first)
        let staged = try await vault.stage(copy: copy.id, nil)
        let name = try #require(vault.name(of: staged, fileName: copy.file))
        #expect(name == work.name)
        let back = try await vault.restore(staged, as: name, inPlaceOf: nil)
        try await back.unlock(with: Fixture.bytes("pw"))
        #expect(back.itemCount == 1 && back.label == "Work" && back.problem == nil)
        await vault.close()
    }

    @Test func formerFilesOfOtherKeychains_hideNoOthers() async throws {
        let vault = try await opened()
        try await vault.unlockedLogin().add()
        let copy = try folder.bytes(of: "login.keychain")
        for number in 0..<300 { try folder.write(copy, to: "a\(number).keychain-past-1700000000") }
        try folder.write(copy, to: "login.keychain-past-1700000000")
        let files = try await vault.checkableFiles(nil)
        #expect(files.contains("generation:login.keychain-past-1700000000"))
        #expect(files.count == 1 + 1 + 256)
        await vault.close()
    }

    @Test func pipeAmongTheFormerFiles_isNoKeychain() async throws {
        let vault = try await opened()
        try await vault.unlockedLogin().add()
        let file = "login.keychain-past-1700000000"
        try #require(mkfifo(folder.file(file), 0o600) == 0)
        let id = "generation:" + file
        #expect(try await vault.checkableFiles(nil).contains(id))
        #expect(try await !vault.check(id, nil).isSound)
        await #expect(throws: VaultError.of(.unreadable)) { _ = try await vault.stage(copy: id, nil) }
        #expect(try await vault.copies(nil).isEmpty)
        await vault.close()
    }
}

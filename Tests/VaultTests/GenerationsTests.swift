import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

@VaultActor
@Suite struct GenerationsTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()
    private let day: Int64 = 24 * 60 * 60

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder, clock: clock, generations: 3))
    }

    /// The names of the generations, oldest first.
    private var generations: [String] {
        folder.names(in: "generations")
    }

    @Test func changesOnOneDay_oneGeneration() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        for number in 0..<5 {
            try await login.add("x", ["n": "\(number)"])
            clock.advance(seconds: 60)
        }
        await vault.close()
        let again = try await opened()
        try await again.unlockedLogin().add()
        await again.close()
        // An empty collection is not copied, so the second change makes the first copy.
        #expect(generations == ["login.000001-20231114T221420Z.keychain"])
        #expect(folder.permissions(of: "generations") == 0o700)
        #expect(folder.permissions(of: "generations/" + generations[0]) == 0o600)
    }

    @Test func manyDays_threeGenerations() async throws {
        for number in 0..<6 {
            let vault = try await opened()
            try await vault.unlockedLogin().add("x", ["n": "\(number)"])
            await vault.close()
            clock.advance(seconds: day)
        }
        #expect(generations.count == 3)
        #expect(generations.last == "login.000005-20231119T221320Z.keychain")
    }

    @Test func unlockedForDays_oneGenerationADay() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try await login.add()
        for expected in 1...2 {
            clock.advance(seconds: day)
            for _ in 0..<3 { try await login.add() }
            #expect(generations.count == expected)
        }
        await vault.close()
    }

    @Test func tooLargeToBeReadBack_leavesTheLastGenerations_andIsAProblem() async throws {
        var limits = VaultLimits()
        limits.copyBytes = 128 << 10
        let configuration = Fixture.configuration(folder, clock: clock, limits: limits, generations: 1)
        let vault = try await Vault.opened(configuration)
        let login = try await vault.unlockedLogin()
        try await login.add()
        let large = try await login.add("large", secret: String(repeating: "x", count: 256 << 10))
        let kept = generations
        #expect(kept.count == 1 && login.problem == nil)
        clock.advance(seconds: day)
        try await login.add()
        #expect(generations == kept)
        #expect(login.problem?.contains("no new copies") == true)
        try await login.deleteItem(large)
        clock.advance(seconds: day)
        try await login.add()
        #expect(generations.count == 1 && generations != kept)
        #expect(login.problem == nil)
        #expect(try await vault.copies(nil).count == 1)
        await vault.close()
    }

    @Test func nothingChanged_noNewGeneration() async throws {
        for _ in 0..<4 {
            let vault = try await opened()
            _ = try await vault.unlockedLogin()
            await vault.close()
            clock.advance(seconds: day)
        }
        #expect(generations.isEmpty)
    }

    @Test func generationFolderNotCreatable_changeSucceeds() async throws {
        try folder.write([1], to: "generations")
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        for _ in 0..<3 { try await login.add() }
        #expect(login.itemCount == 3)
        await vault.close()
    }

    @Test func copyThatFailed_isTriedAgain() async throws {
        try folder.write([1], to: "generations")
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        for _ in 0..<2 { try await login.add() }
        folder.remove("generations")
        try await login.add()
        #expect(generations.isEmpty)
        clock.advance(seconds: 10 * 60)
        for _ in 0..<2 { try await login.add() }
        #expect(generations.count == 1)
        await vault.close()
    }

    @Test func restoresOnOneDay_leaveTheStatesOfOtherDays() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try await login.add()
        for _ in 0..<3 {
            clock.advance(seconds: day)
            try await login.add()
        }
        let days = generations
        #expect(days.count == 3)
        for _ in 0..<5 {
            clock.advance(seconds: 60)
            let past = try await vault.stage(copy: "generation:\(days[0])", nil)
            _ = try await vault.restore(past, as: .login, inPlaceOf: vault.collection(named: .login))
        }
        #expect(generations.prefix(3) == days[...])
        #expect(generations.count == 6)
        await vault.close()
    }

    @Test func copiesOfDeletedCollections_hideNoOthers() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        for _ in 0..<2 { try await login.add() }
        let own = try #require(generations.first)
        let copy = try folder.bytes(of: "generations/" + own)
        for (number, letter) in (0..<300).map({ number in (number, number % 2 == 0 ? "a" : "z") }) {
            try folder.write(copy, to: "generations/\(letter)\(number).000001-20260101T000000Z.keychain")
        }
        let files = try await vault.checkableFiles(nil)
        #expect(files.contains("generation:\(own)"))
        #expect(files.count == 1 + 1 + 256)
        await vault.close()
        // Nor if the collection is missing, when its copies are needed most.
        folder.remove("login.keychain")
        let again = try await opened()
        #expect(try await again.checkableFiles(nil).contains("generation:\(own)"))
        await again.close()
    }

    @Test func clockGoesBack_generationsContinue() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        for _ in 0..<2 { try await login.add() }
        clock.advance(seconds: -400 * day)
        try await login.add()
        #expect(generations.count == 2)
        await vault.close()
    }

    @Test func clockSetForward_forAWhile_futureGenerationsAreReplacedLikeOthers() async throws {
        for number in 0..<2 {
            clock.advance(seconds: 4000 * day)
            let vault = try await opened()
            let login = try await vault.unlockedLogin()
            for change in 0..<2 { try await login.add("future", ["n": "\(number) \(change)"]) }
            await vault.close()
        }
        #expect(generations.count == 2)
        clock.advance(seconds: -8000 * day)
        for number in 0..<3 {
            let vault = try await opened()
            try await vault.unlockedLogin().add("present", ["n": "present \(number)"])
            await vault.close()
            clock.advance(seconds: day)
        }
        #expect(
            generations == [
                "login.000003-20231114T221320Z.keychain", "login.000004-20231115T221320Z.keychain",
                "login.000005-20231116T221320Z.keychain",
            ]
        )
    }

    @Test func damagedCollection_isNotCopied() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try await login.add("x", ["n": "1"])
        try await login.add("x", ["n": "2"])
        await vault.close()
        let before = generations
        try RawDatabase(folder.file("login.keychain")).execute("DELETE FROM item WHERE id = 1")
        for _ in 0..<5 {
            clock.advance(seconds: day)
            let damaged = try await opened()
            let login = try await damaged.unlockedLogin()
            #expect(login.problem != nil)
            try await login.add()
            await damaged.close()
        }
        #expect(generations == before)
    }

    @Test func generation_copiedBack_restoresThatDay() async throws {
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        let id = try await login.add("precious", ["n": "1"], secret: "precious")
        await vault.close()
        clock.advance(seconds: day)
        vault = try await opened()
        login = try await vault.unlockedLogin()
        clock.advance(seconds: 60)
        try await login.updateItem(
            id,
            label: "spoiled",
            secret: Fixture.secret("overwritten by a program that was confused")
        )
        await vault.close()

        let newest = try #require(generations.last)
        try folder.write(folder.bytes(of: "generations/" + newest), to: "login.keychain")
        vault = try await opened()
        login = try #require(vault.collection(named: .login))
        #expect(login.search(["n": "1"]) == [id])
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        #expect(login.item(id)?.label == "precious")
        #expect(try await login.content(of: id) == Array("precious".utf8))
        #expect(login.missingCount == 1)
        try await login.add()
        await vault.close()
    }

    @Test(arguments: ["userPresence", "devicePasscode"])
    func itemProtected_isRemovedFromGenerations(accessControl: String) async throws {
        let secret = "a secret that nobody else has"
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try await login.add("bank", ["service": "bank"], secret: secret)
        for number in 0..<3 {
            try await login.add("other", ["n": "\(number)"])
            clock.advance(seconds: day)
        }
        try await login.updateItem(id, attributes: .protected(accessControl))
        let kept = generations
        #expect(kept.count == 3)
        for name in kept {
            let path = folder.file("generations/" + name)
            #expect(try RawDatabase(path).text("SELECT count(*) FROM item WHERE id = \(id)") == "0")
            // It is complete without the item: another program verifies the hash.
            let contents = try await OtherReader(folder, file: "generations/" + name).read(passwords: Fixture.password)
            #expect(!contents.items.isEmpty || name == kept.first)
            #expect(!contents.items.contains { item in item.text == secret })
        }
        #expect(folder.names(in: "generations") == kept)
        // A protected item is copied as usual.
        clock.advance(seconds: day)
        try await login.add()
        let newest = try #require(generations.last)
        let path = folder.file("generations/" + newest)
        #expect(try RawDatabase(path).text("SELECT count(*) FROM item WHERE id = \(id)") == "1")
        await vault.close()
    }

    @Test func itemProtected_unchangeableGeneration_isRemoved() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try await login.add("bank", ["service": "bank"])
        try await login.add("other")
        let name = try #require(generations.first)
        try RawDatabase(folder.file("generations/" + name)).execute("UPDATE header SET state = x'00'")
        try await login.updateItem(id, attributes: .protected("userPresence"))
        #expect(generations.isEmpty)
        await vault.close()
    }

    @Test func deletedCollection_keepsItsGenerations() async throws {
        let vault = try await opened()
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("pw"))
        for _ in 0..<2 { try await work.add() }
        await vault.close()
        let again = try await opened()
        let reopened = try #require(CollectionName(encoded: "Work").flatMap(again.collection(named:)))
        try await again.delete(reopened)
        await again.close()
        #expect(generations.contains { name in name.hasPrefix("Work.") })
    }
}

import Foundation
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// A keychain that was changed elsewhere, or another one, in the place of a file.
@VaultActor
@Suite struct ReplacedFileTests {
    private let here = TemporaryFolder()
    private let elsewhere = TemporaryFolder()

    /// Runs a session of a person, who unlocks `login`.
    private func withLogin(
        in folder: TemporaryFolder,
        _ password: String = Fixture.password,
        _ body: (Vault, Collection) async throws -> Void
    ) async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        try await body(vault, try await vault.unlockedLogin(password))
        await vault.close()
    }

    private func add(_ items: String..., in folder: TemporaryFolder) async throws {
        try await withLogin(in: folder) { _, login in
            for item in items { try await login.add(item, ["n": item]) }
        }
    }

    /// Copies a closed keychain, without `state`.
    private func copy(
        _ name: String = "login.keychain",
        from source: TemporaryFolder,
        to target: TemporaryFolder,
        as copy: String = "login.keychain"
    ) throws {
        try target.write(source.bytes(of: name), to: copy)
        if source !== target { try target.write(source.bytes(of: "index.key"), to: "index.key") }
    }

    @Test func stateWithOtherChanges_isAProblem_untilTheStartAfterAChange() async throws {
        try await add("both", in: here)
        try copy(from: here, to: elsewhere)
        try await add("here", in: here)
        try await add("there", "there, too", "and there", in: elsewhere)
        try copy(from: elsewhere, to: here)
        for _ in 0..<2 {
            try await withLogin(in: here) { _, login in
                #expect(login.replacement == .diverged(last: 2))
                #expect(login.problem?.contains("changes that were made here are missing") == true)
                #expect(login.itemCount == 4)
            }
        }
        try await add("again", in: here)
        try await withLogin(in: here) { _, login in #expect(login.replacement == nil && login.problem == nil) }
    }

    @Test func stateWithMoreChanges_isNone() async throws {
        try await add("both", in: here)
        for number in 0..<3 {
            try copy(from: here, to: elsewhere)
            try await add("there \(number)", in: elsewhere)
            try copy(from: elsewhere, to: here)
            try await withLogin(in: here) { _, login in #expect(login.replacement == nil && login.problem == nil) }
            try await add("here \(number)", in: here)
        }
    }

    @Test func changesOfAnOldStateThatWasSalvaged_areNotMissed() async throws {
        try await add("one", in: here)
        try here.tamper { image in image.zero(try image.last(LogImage.state, 0).metadata) }
        try await withLogin(in: here) { vault, login in
            try await login.add("two", ["n": "2"])
            _ = try await vault.salvage(login)
            #expect(login.replacement == nil && login.itemCount == 2)
        }
        try await withLogin(in: here) { _, login in #expect(login.replacement == nil && login.problem == nil) }
    }

    @Test func otherKeychain_isAProblemBeforeItsUnlock_untilTheStartAfterAChange() async throws {
        try await add("mine", in: here)
        try await withLogin(in: elsewhere, "other") { _, login in try await login.add("not mine") }
        try copy(from: elsewhere, to: here)
        for _ in 0..<2 {
            let vault = try await Vault.opened(Fixture.configuration(here))
            let login = try #require(vault.collection(named: .login))
            #expect(login.replacement == .other && login.state == .locked)
            #expect(login.problem?.contains("another keychain in its place") == true)
            await #expect(throws: VaultError.of(.wrongPassword)) {
                try await login.unlock(with: Fixture.bytes(Fixture.password))
            }
            try await login.unlock(with: Fixture.bytes("other"))
            #expect(login.replacement == .other)
            await vault.close()
        }
        try await withLogin(in: here, "other") { _, login in try await login.add("mine now") }
        try await withLogin(in: here, "other") { _, login in #expect(login.replacement == nil && login.problem == nil) }
    }

    @Test func swappedKeychains_areBothTold_untilTheyAreBack() async throws {
        try await withLogin(in: here) { vault, _ in
            for label in ["A", "B"] {
                try await vault.createCollection(label: label, password: Fixture.bytes(label)).add("in \(label)")
            }
        }
        func swap() throws {
            for (old, new) in [("A", "C"), ("B", "A"), ("C", "B")] {
                let (old, new) = (here.file("\(old).keychain"), here.file("\(new).keychain"))
                try FileManager.default.moveItem(atPath: old, toPath: new)
            }
        }
        for isSwapped in [true, false] {
            try swap()
            try await withLogin(in: here) { vault, _ in
                for label in ["A", "B"] {
                    let collection = try #require(vault.collection(named: CollectionName(label: label)))
                    #expect(collection.replacement == (isSwapped ? .other : nil))
                    #expect(collection.former.label == label)
                }
            }
        }
    }

    @Test func otherKeychain_thatComesWhileItRuns_isTold_andGivesNoBackup() async throws {
        try await withLogin(in: elsewhere, "other") { _, login in try await login.add("not mine") }
        try await withLogin(in: here) { vault, login in
            try await login.add("mine")
            let backups = BackupFolder(in: elsewhere.file("home"))
            try await vault.backUp(.login, to: backups)
            here.remove("login.keychain")
            try copy(from: elsewhere, to: here)
            let new = try #require(await vault.takeUp(login))
            #expect(new.replacement == .other)
            await #expect(throws: VaultError.of(.unreadable)) { try await vault.backUp(.login, to: backups) }
        }
    }

    @Test(arguments: [true, false])
    func copyInPlaceOfAnotherKeychain_isClosed_besideItsOriginal(isRunning: Bool) async throws {
        try await add("mine", in: here)
        var vault = try await Vault.opened(Fixture.configuration(here))
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("work"))
        try await work.add("at work")
        if isRunning {
            try copy(from: here, to: here, as: "Work.keychain")
            _ = await vault.takeUp(work)
        } else {
            await vault.close()
            // As the file that was changed last, it would win.
            try copy("Work.keychain", from: here, to: here)
            vault = try await Vault.opened(Fixture.configuration(here))
        }
        let (original, copy): (CollectionName, CollectionName) = isRunning ? (.login, work.name) : (work.name, .login)
        #expect(try #require(vault.collection(named: original)).problem == nil)
        #expect(vault.collection(named: copy)?.problem?.contains("it is a copy of \(original)") == true)
        await vault.close()
    }
}

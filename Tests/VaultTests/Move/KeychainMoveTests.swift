import Foundation
import Glibc
import KeychaindModel
import KeychaindVault
import Logging
import Testing

/// The move of a user's keychains into the folder of the domain.
@VaultActor @Suite struct KeychainMoveTests {
    private struct Stop: Error {}

    private let old = TemporaryFolder()
    private let new = TemporaryFolder()

    private func move(
        onStep: @escaping (KeychainMove.Step) throws(VaultError) -> Void = { _ in }
    ) throws -> KeychainMove.Outcome {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return try KeychainMove(from: old.path, to: new.path, logger: logger, onStep: onStep).run()
    }

    /// Fills a folder with a collection, `login` with a former file, an alias and a lockout.
    private func fill(_ folder: TemporaryFolder) async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder, generations: 3))
        let login = try await vault.unlockedLogin()
        try await login.add("first", ["a": "1"], secret: "one")
        try await login.add("second", ["a": "2"], secret: "two")
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("work"))
        try await work.add("third", ["a": "3"], secret: "three")
        try await vault.setAlias("office", to: work)
        try await vault.setLockout([1, 2, 3], of: .people)
        await vault.close()
        try folder.write(folder.bytes(of: "login.keychain"), to: "login.keychain-past-1700000000")
    }

    /// Returns the contents of a folder: the secrets of `login`, the alias, the lockout.
    private func contents(of folder: TemporaryFolder) async throws -> [String] {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        var found: [String] = []
        for id in login.itemIDs { found.append(String(decoding: try await login.content(of: id), as: UTF8.self)) }
        found += vault.aliases.map { alias in "\(alias.key)=\(alias.value)" }
        if vault.lockout(of: .people) == .record([1, 2, 3]) { found.append("lockout") }
        // Searches before the first unlock need the index key.
        let work = vault.collection(forAlias: "office")
        found.append("\(work?.search(["a": "3"]).count ?? 0) found")
        await vault.close()
        return found
    }

    private let everything = ["one", "two", "office=Work", "lockout", "1 found"]

    @Test func move_movesKeychainsAliasesLockoutsIndexAndFormerFiles() async throws {
        try await fill(old)
        guard case .moved(let files, let left) = try move() else { throw Stop() }
        #expect(Set(files).isSuperset(of: ["login.keychain", "Work.keychain", "index.key", "state"]))
        #expect(left.isEmpty)
        #expect(try await contents(of: new) == everything)
        #expect(new.names.contains("login.keychain-past-1700000000"))
        #expect(old.names == ["MOVED.txt", "lock"])
        let note = String(decoding: try old.bytes(of: "MOVED.txt"), as: UTF8.self)
        #expect(note.contains(new.path) && note.contains("login.keychain"))
        #expect(!new.names.contains("incoming") && !new.names.contains("moving"))
    }

    @Test func move_afterACrash_hasItsLastChange() async throws {
        let vault = try await Vault.opened(Fixture.configuration(old))
        let login = try await vault.unlockedLogin()
        try await login.add(secret: "the last one")
        let crashed = try old.snapshot()
        await vault.close()
        try FileManager.default.removeItem(atPath: old.path)
        try FileManager.default.copyItem(atPath: crashed.path, toPath: old.path)
        _ = try move()
        #expect(try await contents(of: new).first == "the last one")
    }

    @Test func crash_afterAnyStep_losesNothing_andTheNextStartContinues() async throws {
        try await fill(old)
        let filled = try old.snapshot()
        var step = 0
        while true {
            for folder in [old, new] { try FileManager.default.removeItem(atPath: folder.path) }
            try FileManager.default.copyItem(atPath: filled.path, toPath: old.path)
            try new.makeFolder("")
            var count = 0
            var last: KeychainMove.Step?
            let isWhole =
                (try? move { (reached) throws(VaultError) in
                    count += 1
                    last = reached
                    if count > step { throw VaultError(.storageFailed, reason: "a crash") }
                }) != nil
            if isWhole { break }
            // The authoritative copy is complete.
            let isDecided = new.names.contains("moved")
            let copy = try (isDecided ? new : old).snapshot()
            #expect(try await contents(of: copy) == everything, "after \(String(describing: last))")
            _ = try move()
            #expect(try await contents(of: new) == everything, "after \(String(describing: last))")
            #expect(old.names == ["MOVED.txt", "lock"], "after \(String(describing: last))")
            #expect(try move() == .doneBefore)
            step += 1
        }
        #expect(step > 15)
    }

    @Test func move_runsOnce() async throws {
        #expect(try move() == .nothing)
        try await fill(old)
        #expect(try move() == .doneBefore)
        #expect(!new.names.contains("login.keychain"))
        #expect(old.names.contains("login.keychain"))
    }

    @Test func move_noOldFolder_isDone() throws {
        try FileManager.default.removeItem(atPath: old.path)
        #expect(try move() == .nothing)
        #expect(try move() == .doneBefore)
    }

    @Test func move_existingFiles_areNotOverwritten() async throws {
        try await fill(old)
        try await fill(new)
        let before = try ["login.keychain", "state", "index.key"].map(new.bytes)
        guard case .moved(_, let left) = try move() else { throw Stop() }
        #expect(left["login.keychain"] == "a file with that name exists already")
        #expect(try ["login.keychain", "state", "index.key"].map(new.bytes) == before)
        #expect(Set(old.names).isSuperset(of: ["login.keychain", "state", "index.key"]))
    }

    @Test func move_oldFolderInUse_changesNothing() async throws {
        try await fill(old)
        let user = try await Vault.opened(Fixture.configuration(old))
        let before = old.names
        #expect(throws: VaultError(.inUse, reason: "")) { try move() }
        #expect(old.names == before)
        #expect(!new.names.contains("moved"))
        await user.close()
        _ = try move()
        #expect(try await contents(of: new) == everything)
    }

    private func run(from places: KeychainMove.Places?) throws -> KeychainMove.Outcome {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return try KeychainMove.run(from: places, to: new.path, logger: logger).outcome
    }

    @Test func move_homeIsUnknownOrNotThere_isNotDecided() async throws {
        #expect(throws: VaultError.of(.storageFailed)) { try run(from: nil) }
        let missing = KeychainMove.Places(home: old.file("home"), folders: [old.file("home/keychaind")])
        #expect(try run(from: missing) == .postponed)
        // As a mount point.
        let empty = KeychainMove.Places(home: old.path, folders: [old.file("keychaind")])
        #expect(try run(from: empty) == .postponed)
        #expect(!new.names.contains("moved"))
        try await fill(old)
        // Some users have no home, and their data elsewhere.
        let places = KeychainMove.Places(home: old.file("home"), folders: [old.file("home/keychaind"), old.path])
        guard case .moved = try run(from: places) else { throw Stop() }
        #expect(try await contents(of: new) == everything)
        #expect(try run(from: nil) == .doneBefore)
    }

    @Test func move_interruptedBeforeTheHomeIsGone_waitsForIt() async throws {
        try await fill(old)
        let missing = KeychainMove.Places(home: old.file("home"), folders: [old.file("home/keychaind")])
        _ = try? move { (step) throws(VaultError) in
            guard step == .placed("login.keychain") else { return }
            throw VaultError(.storageFailed, reason: "a crash")
        }
        #expect(new.names.contains("login.keychain"))
        // The next move removes this copy, with all that would be stored in it now.
        #expect(throws: VaultError.of(.storageFailed)) { try run(from: missing) }
        _ = try? move { (step) throws(VaultError) in
            guard step == .decided else { return }
            throw VaultError(.storageFailed, reason: "a crash")
        }
        #expect(new.names.contains("moving"))
        #expect(try run(from: missing) == .postponed)
        let mountPoint = TemporaryFolder()
        let empty = KeychainMove.Places(home: mountPoint.path, folders: [mountPoint.file("keychaind")])
        #expect(try run(from: empty) == .postponed)
        guard case .moved = try run(from: KeychainMove.Places(home: old.path, folders: [old.path])) else {
            throw Stop()
        }
        #expect(try await contents(of: new) == everything)
    }

    /// Moves the old folder up to a step.
    private func interrupt(after last: KeychainMove.Step) {
        _ = try? move { (step) throws(VaultError) in
            guard step == last else { return }
            throw VaultError(.storageFailed, reason: "a crash")
        }
    }

    @Test(arguments: [KeychainMove.Step.copied("login.keychain"), .placed("login.keychain")])
    func move_interruptedBeforeTheHomeIsEmpty_keepsTheCopies(after last: KeychainMove.Step) async throws {
        try await fill(old)
        interrupt(after: last)
        let before = new.names + new.names(in: "incoming")
        // As the mount point of a home folder that is not mounted.
        let empty = TemporaryFolder()
        let places = KeychainMove.Places(home: empty.path, folders: [empty.file(".local/share/keychaind")])
        #expect(throws: VaultError.of(.storageFailed)) { try run(from: places) }
        #expect(before.contains("login.keychain"))
        #expect(new.names + new.names(in: "incoming") == before)
        guard case .moved = try run(from: KeychainMove.Places(home: old.path, folders: [old.path])) else {
            throw Stop()
        }
        #expect(try await contents(of: new) == everything)
        #expect(!new.names.contains("moving-from"))
    }

    @Test func move_interruptedBeforeItsFolderIsGone_doesNotGiveWayToAnother() async throws {
        try await fill(old)
        let other = TemporaryFolder()
        try other.write(try old.bytes(of: "login.keychain"), to: "login.keychain")
        interrupt(after: .placed("login.keychain"))
        let before = new.names
        // As if the home folder were not mounted.
        let elsewhere = TemporaryFolder()
        try FileManager.default.moveItem(atPath: old.path, toPath: elsewhere.file("old"))
        let places = KeychainMove.Places(home: old.path, folders: [old.path, other.path])
        #expect(throws: VaultError.of(.storageFailed)) { try run(from: places) }
        #expect(before.contains("login.keychain") && new.names == before)
        try FileManager.default.moveItem(atPath: elsewhere.file("old"), toPath: old.path)
        guard case .moved = try run(from: places) else { throw Stop() }
        #expect(try await contents(of: new) == everything)
        #expect(other.names == ["login.keychain"])
    }

    @Test func move_interruptedFromAFolderThatKeepsItsKeychains_givesWayToTheStandardOne() async throws {
        try await fill(old)
        interrupt(after: .placed("login.keychain"))
        let standard = TemporaryFolder()
        try await fill(standard)
        let places = KeychainMove.Places(home: standard.path, folders: [standard.path, old.path])
        guard case .moved = try run(from: places) else { throw Stop() }
        #expect(try await contents(of: new) == everything)
        #expect(standard.names == ["MOVED.txt", "lock"])
        #expect(old.names.contains("login.keychain") && !new.names.contains("moving-from"))
    }

    @Test func move_decidedBeforeTheFolderCannotBeRead_isFinishedLater() async throws {
        try await fill(old)
        _ = try? move { (step) throws(VaultError) in
            guard step == .decided else { return }
            throw VaultError(.storageFailed, reason: "a crash")
        }
        let home = TemporaryFolder()
        symlink(old.path, home.file("standard"))
        let places = KeychainMove.Places(home: home.path, folders: [home.file("standard")])
        #expect(try run(from: places) == .postponed)
        #expect(old.names.contains("login.keychain"))
        guard case .moved = try run(from: KeychainMove.Places(home: old.path, folders: [old.path])) else {
            throw Stop()
        }
        #expect(old.names == ["MOVED.txt", "lock"])
        #expect(try await contents(of: new) == everything)
    }

    @Test func move_standardFolderCannotBeRead_isNotDecidedByAnother() async throws {
        try await fill(old)
        let home = TemporaryFolder()
        symlink(old.path, home.file("standard"))
        let other = TemporaryFolder()
        try other.write(try old.bytes(of: "login.keychain"), to: "login.keychain")
        let places = KeychainMove.Places(home: home.path, folders: [home.file("standard"), other.path])
        #expect(throws: VaultError.self) { try run(from: places) }
        #expect(!new.names.contains("moved") && other.names == ["login.keychain"])
    }

    @Test func move_linksPipesAndForeignFiles_stay() async throws {
        try await fill(old)
        let elsewhere = TemporaryFolder()
        try elsewhere.write(try old.bytes(of: "login.keychain"), to: "a.keychain")
        symlink(elsewhere.file("a.keychain"), old.file("linked.keychain"))
        mkfifo(old.file("pipe.keychain"), 0o600)
        mkfifo(old.file("pipe.keychain-past-1700000000"), 0o600)
        try old.makeFolder("folder.keychain")
        var expected: Set = ["linked.keychain", "pipe.keychain", "folder.keychain"]
        if geteuid() == 0 {
            try old.write(try old.bytes(of: "login.keychain"), to: "foreign.keychain")
            chown(old.file("foreign.keychain"), 1, 1)
            expected.insert("foreign.keychain")
        }
        guard case .moved(_, let left) = try move() else { throw Stop() }
        #expect(Set(left.keys) == expected.union(["pipe.keychain-past-1700000000"]))
        #expect(Set(old.names).isSuperset(of: expected))
        #expect(new.names.filter { $0.hasSuffix(".keychain") } == ["Work.keychain", "login.keychain"])
        #expect(try await contents(of: new) == everything)
    }

    @Test func move_lockIsAPipe_doesNotWait() async throws {
        try await fill(old)
        old.remove("lock")
        mkfifo(old.file("lock"), 0o600)
        _ = try move()
        #expect(try await contents(of: new) == everything)
    }

    @Test func move_oldFolderIsALink_isRefused() async throws {
        let target = TemporaryFolder()
        try await fill(target)
        try FileManager.default.removeItem(atPath: old.path)
        symlink(target.path, old.path)
        #expect(throws: VaultError.self) { try move() }
        #expect(!new.names.contains("moved"))
        #expect(target.names.contains("login.keychain"))
    }

    @Test func move_damagedKeychain_isCopiedUnchanged_andStays() async throws {
        try await fill(old)
        try old.write(Array("no keychain at all".utf8), to: "login.keychain")
        guard case .moved(let files, let left) = try move() else { throw Stop() }
        #expect(files.contains("login.keychain") && left.keys.contains("login.keychain"))
        #expect(try new.bytes(of: "login.keychain") == Array("no keychain at all".utf8))
        #expect(try old.bytes(of: "login.keychain") == Array("no keychain at all".utf8))
        let vault = try await Vault.opened(Fixture.configuration(new))
        guard case .unreadable = vault.collection(named: .login)?.state else { throw Stop() }
        await vault.close()
    }

    @Test func move_oldFileChangedAfterTheDecision_stays() async throws {
        try await fill(old)
        _ = try move { (step) throws(VaultError) in
            guard step == .decided else { return }
            rename(old.file("Work.keychain"), old.file("Work.keychain-away"))
            try? old.write(Array("another".utf8), to: "Work.keychain")
        }
        #expect(try old.bytes(of: "Work.keychain") == Array("another".utf8))
        #expect(try await contents(of: new) == everything)
    }

    @Test(.enabled(if: geteuid() == 0, "needs a disk of its own"))
    func move_fullDisk_keepsTheOldFiles_andWorksOnceThereIsRoom() async throws {
        try await fill(old)
        try new.mountDisk(bytes: 64 << 10)
        #expect(throws: VaultError(.storageFull, reason: "")) { try move() }
        #expect(try await contents(of: old.snapshot()) == everything)
        new.unmount()
        _ = try move()
        #expect(try await contents(of: new) == everything)
    }

    @Test(.enabled(if: geteuid() == 0, "needs a mount")) func move_readOnlyOldFolder_keepsTheOldFiles() async throws {
        try await fill(old)
        try old.makeReadOnly()
        defer { old.makeWritable() }
        _ = try move()
        #expect(try await contents(of: new) == everything)
        #expect(old.names.contains("login.keychain"))
        #expect(try move() == .doneBefore)
    }
}

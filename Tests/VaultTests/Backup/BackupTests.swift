import Foundation
import Glibc
import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// A host sealer whose output can be searched for.
private struct SealingHost: HostSealer {
    let sealed = Array("sealed by this machine, and by no other".utf8)

    func check() {}
    func seal(_ key: borrowing SecureBytes) -> [UInt8] { sealed }
    func unseal(_ sealed: [UInt8]) throws(VaultError) -> SecureBytes {
        throw VaultError(.hostNotAvailable, reason: "it only seals")
    }
}

/// Backups in the user's home.
@VaultActor @Suite struct BackupTests {
    private let folder = TemporaryFolder()
    private let home = TemporaryFolder()

    private var backups: BackupFolder { BackupFolder(in: home.path) }
    private let place = "keychaind/backup"

    private func withVault(_ body: (Vault, Vault.Login) async throws -> Void) async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        try await login.add("label", ["a": "b"], secret: "kept")
        try await body(vault, login)
        await vault.close()
    }

    /// Opens the backup as the file of another vault.
    private func contents(_ name: String = "login", password: String = Fixture.password) async throws -> [String] {
        let other = TemporaryFolder()
        try other.write(try home.bytes(of: "\(place)/\(name).keychain"), to: "login.keychain")
        let vault = try await Vault.opened(Fixture.configuration(other))
        let login = try await vault.unlockedLogin(password)
        var found: [String] = []
        for id in login.itemIDs { found.append(String(decoding: try await login.content(of: id), as: UTF8.self)) }
        await vault.close()
        return found
    }

    @Test func backUp_opensWithThePassword_andIsPrivate() async throws {
        try await withVault { vault, _ in
            try await vault.backUp(.login, to: backups)
            #expect(home.names(in: place) == ["login.keychain"])
            #expect(home.permissions(of: place) == 0o700)
            #expect(home.permissions(of: "\(place)/login.keychain") == 0o600)
            #expect(try await contents() == ["kept"])
            #expect(!folder.names.contains { $0.hasPrefix("backup-") })
        }
    }

    @Test func backUp_hasTheTimeAtWhichItWasBegun() async throws {
        try await withVault { vault, _ in
            let earliest = Timestamp.now()
            try await vault.backUp(.login, to: backups)
            var status = stat()
            let isThere = stat(home.file("\(place)/login.keychain"), &status) == 0
            let (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
            #expect(isThere && seconds >= Int(earliest.seconds))
            // Set in microseconds, which the time of a write is not.
            #expect(nanoseconds % 1_000 == 0)
        }
    }

    @Test func backUp_inTheSecondOfTheLastChange_isMadeAgain() async throws {
        try await withVault { vault, login in
            try await vault.backUp(.login, to: backups)
            let changed = Int(login.modified.microsecondsSinceEpoch / 1_000_000)
            for second in [changed, changed + 1] {
                let times = [timespec](repeating: timespec(tv_sec: second, tv_nsec: 999_999_000), count: 2)
                try #require(utimensat(AT_FDCWD, home.file("\(place)/login.keychain"), times, 0) == 0)
                #expect(await vault.hasCurrentBackup(login, in: backups) == (second > changed))
            }
        }
    }

    @Test(arguments: [false, true])
    func backUp_afterARestore_withItemsProtectedSince_isMade(isNew: Bool) async throws {
        try await withVault { vault, login in
            let id = try await login.add("bank", ["service": "bank"], secret: "bank")
            try await vault.backUp(.login, to: backups)
            if isNew {
                for service in ["later", "last"] { try await login.protect("userPresence", service) }
            } else {
                try await login.updateItem(id, attributes: .protected("userPresence"))
            }
            let staged = try await vault.stage(copy: "backup:login.keychain", backups)
            let restored = try await vault.restore(staged, as: .login, inPlaceOf: login)
            try await restored.unlock(with: Fixture.bytes(Fixture.password))
            #expect(restored.problem == nil)
            try await restored.add("new", ["n": "1"], secret: "new")
            try await vault.backUp(.login, to: backups)
            #expect(try await contents() == ["kept", "bank", "new"])
        }
    }

    @Test func backUp_damagedOrOlderFile_leavesTheLastBackup() async throws {
        try await withVault { vault, login in
            try await login.add("late", ["n": "1"], secret: "late")
            try await vault.backUp(.login, to: backups)
        }
        let backup = try home.bytes(of: "\(place)/login.keychain")
        let whole = try folder.bytes(of: "login.keychain")
        // A damaged secret is noticed by the check of the copy, a missing frame by the chain.
        for isSecret in [true, false] {
            try folder.tamper { image in
                let frame = try image.last(LogImage.item, isSecret ? 1 : 2)
                if isSecret { image.flip(frame.secret.lowerBound) } else { image.zero(frame.range) }
            }
            let vault = try await Vault.opened(Fixture.configuration(folder))
            _ = try await vault.unlockedLogin()
            await #expect(throws: VaultError.of(.unreadable)) { try await vault.backUp(.login, to: backups) }
            await vault.close()
            #expect(try home.bytes(of: "\(place)/login.keychain") == backup)
            try folder.write(whole, to: "login.keychain")
        }
        folder.remove("login.keychain")
        let vault = try await Vault.opened(Fixture.configuration(folder))
        await #expect(throws: VaultError.of(.unreadable)) { try await vault.backUp(.login, to: backups) }
        await vault.close()
        #expect(try home.bytes(of: "\(place)/login.keychain") == backup)
    }

    @Test func backUp_tooLargeToBeReadBack_leavesTheLastBackup_andIsAProblem() async throws {
        var limits = VaultLimits()
        limits.copyBytes = 400 << 10
        let vault = try await Vault.opened(Fixture.configuration(folder, limits: limits))
        let login = try await vault.unlockedLogin()
        try await login.add("label", ["a": "b"], secret: "kept")
        try await vault.backUp(.login, to: backups)
        let large = try await login.add("large", ["n": "1"], secret: String(repeating: "x", count: 512 << 10))
        await #expect(throws: VaultError.of(.limitExceeded)) { try await vault.backUp(.login, to: backups) }
        #expect(login.problem?.contains("no new copies") == true)
        #expect(try await vault.copies(backups).map(\.itemCount) == [1])
        #expect(!folder.names.contains { $0.hasPrefix("backup-") })
        try await login.deleteItem(large)
        try await vault.backUp(.login, to: backups)
        #expect(login.problem == nil)
        await vault.close()
    }

    @Test func otherFilesInTheBackupFolder_hideNoCopies() async throws {
        try await withVault { vault, login in
            try await login.add("late", ["n": "1"], secret: "late")
            try await vault.backUp(.login, to: backups)
            for number in 0..<20 { try home.write([1], to: "\(place)/login.zzz\(number).keychain") }
            let files = try await vault.checkableFiles(backups)
            #expect(files.contains("backup:login.keychain"))
            #expect(files.count { file in file.hasPrefix("backup:") } == 8)
        }
    }

    @Test func backUp_hasNoSlotOfTheHostThePasscodeOrLogin() async throws {
        try await withVault { vault, login in
            let host = SealingHost()
            try await login.addHost(host, openedBy: Fixture.bytes(Fixture.password))
            let key = try await login.addRecoveryKey(openedBy: Fixture.bytes(Fixture.password))
            let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("work"))
            try await work.addLogin(openedBy: Fixture.bytes("work"))
            try await vault.backUp(.login, to: backups)
            try await vault.backUp(work.name, to: backups)
            #expect(try kinds(in: "login") == "1 3")
            #expect(try kinds(in: "Work") == "1")
            let text = try key.grouped().withUnsafeBytes { bytes in String(decoding: bytes, as: UTF8.self) }
            #expect(try await contents(password: text) == ["kept"])
            // The copy has no past.
            let bytes = try home.bytes(of: "\(place)/login.keychain")
            #expect(bytes.firstRange(of: host.sealed) == nil)
            #expect(try folder.bytes(of: "login.keychain").firstRange(of: host.sealed) != nil)
        }
    }

    private func kinds(in name: String) throws -> String {
        let image = LogImage(try home.bytes(of: "\(place)/\(name).keychain"))
        return try image.slotKinds().sorted().map(String.init).joined(separator: " ")
    }

    @Test func backUp_waitsForTheFirstUnlock() async throws {
        try await withVault { _, _ in }
        let vault = try await Vault.opened(Fixture.configuration(folder))
        var changed: [CollectionName] = []
        vault.onChange = { name in changed.append(name) }
        await #expect(throws: VaultError.of(.locked)) { try await vault.backUp(.login, to: backups) }
        _ = try await vault.unlockedLogin()
        #expect(changed == [.login])
        try await vault.backUp(.login, to: backups)
        #expect(try await contents() == ["kept"])
        await vault.close()
    }

    @Test func backUp_onALaterDay_keepsThreeEarlierDays() async throws {
        try await withVault { vault, login in
            for day in 1...5 {
                try await vault.backUp(.login, to: backups)
                // Sets the backup's date to an earlier day.
                var times = [timespec(tv_sec: 86_400 * day, tv_nsec: 0), timespec(tv_sec: 86_400 * day, tv_nsec: 0)]
                utimensat(AT_FDCWD, home.file("\(place)/login.keychain"), &times, 0)
            }
            try await login.add("label", ["c": "d"], secret: "new")
            try await vault.backUp(.login, to: backups)
            try await vault.backUp(.login, to: backups)
            let days = ["19700104", "19700105", "19700106"].map { "login.\($0).keychain" }
            #expect(home.names(in: place) == days + ["login.keychain"])
            #expect(try await contents() == ["kept", "new"])
            #expect(try await contents("login.19700106") == ["kept"])
        }
    }

    @Test func backUp_nameIsALink_writesNothing() async throws {
        try await withVault { vault, _ in
            let victim = folder.file("victim")
            try folder.write(Array("victim".utf8), to: "victim")
            for (name, target) in [("keychaind", folder.path), ("keychaind/backup", folder.path)] {
                try? FileManager.default.createDirectory(
                    atPath: (home.file(name) as NSString).deletingLastPathComponent,
                    withIntermediateDirectories: true
                )
                symlink(target, home.file(name))
                let error = await #expect(throws: VaultError.self) { try await vault.backUp(.login, to: backups) }
                #expect(error?.reason.contains("is a symbolic link") == true)
                unlink(home.file(name))
            }
            try home.makeFolder(place)
            for name in ["login.keychain", "login.keychain-new"] {
                for make in [{ symlink(victim, $0) }, { mkfifo($0, 0o600) }] as [(String) -> CInt] {
                    #expect(make(home.file("\(place)/\(name)")) == 0)
                    await #expect(throws: VaultError(.unreadable, reason: "")) {
                        try await vault.backUp(.login, to: backups)
                    }
                    #expect(home.names(in: place) == [name])
                    unlink(home.file("\(place)/\(name)"))
                }
            }
            #expect(try folder.bytes(of: "victim") == Array("victim".utf8))
            try await vault.backUp(.login, to: backups)
            #expect(try await contents() == ["kept"])
        }
    }

    @Test func backUp_nameIsAHardLink_leavesTheOtherName() async throws {
        try await withVault { vault, _ in
            try home.makeFolder(place)
            try home.write(Array("other".utf8), to: "other")
            link(home.file("other"), home.file("\(place)/login.keychain"))
            try await vault.backUp(.login, to: backups)
            #expect(try home.bytes(of: "other") == Array("other".utf8))
            #expect(try await contents() == ["kept"])
        }
    }

    @Test(.enabled(if: geteuid() == 0, "needs a disk of its own")) func backUp_fullDisk_keepsTheLastBackup()
        async throws
    {
        try await withVault { vault, login in
            try home.mountDisk(bytes: 400 << 10)
            defer { home.unmount() }
            try await vault.backUp(.login, to: backups)
            for number in 0..<40 {
                try await login.add("big", ["n": "\(number)"], secret: String(repeating: "x", count: 4000))
            }
            await #expect(throws: VaultError(.storageFull, reason: "")) { try await vault.backUp(.login, to: backups) }
            #expect(home.names(in: place) == ["login.keychain"])
            #expect(try await contents() == ["kept"])
        }
    }
}

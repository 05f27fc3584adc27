import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindVault
import Logging

/// The backups being restored; their number is limited, because each is a copy on the disk.
@BusActor
final class Restorations {
    /// The most restorations at a time, and the most files that are copied or read, of all clients together.
    static let limit = 2

    let vault: Vault
    /// Nil if the user has no home folder.
    let backups: BackupFolder?
    let unlocker: Unlocker
    let logger: Logger

    /// The lockout for passwords of all backups; not stored, since a file can be attacked elsewhere, too.
    let lockout = LockoutKeeper(store: NoLockoutStore())

    private struct Staged {
        weak var backup: StagedBackup?
    }

    private var staged: [Staged] = []
    private var copying = 0

    init(vault: Vault, backups: BackupFolder?, unlocker: Unlocker, logger: Logger) {
        self.vault = vault
        self.backups = backups
        self.unlocker = unlocker
        self.logger = logger
    }

    /// Copies a file that the caller has opened.
    func stage(_ file: FileDescriptor) async throws(BusError) -> StagedBackup {
        let descriptor = fcntl(file.rawValue, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw BusError(.limitsExceeded, "the descriptor cannot be duplicated") }
        let source = Handoff(OpenedFile(owning: descriptor))
        return try await stage { (vault) async throws(VaultError) in
            guard let source = source.take() else { throw VaultError(.busy, reason: "the file was taken") }
            return try await vault.stage(source)
        }
    }

    /// Copies a generation or backup.
    func stage(copy id: String) async throws(BusError) -> StagedBackup {
        try await stage { [backups] (vault) async throws(VaultError) in try await vault.stage(copy: id, backups) }
    }

    /// The generations and backups, oldest first.
    func copies() async throws(BusError) -> [KeychainCopy] {
        try await limited { [vault, backups] () async throws(VaultError) in try await vault.copies(backups) }
    }

    /// The identifiers of the files that can be checked.
    func checkableFiles() async throws(BusError) -> [String] {
        try await limited { [vault, backups] () async throws(VaultError) in try await vault.checkableFiles(backups) }
    }

    /// Checks one of them, with the keys at hand.
    func check(_ file: String) async throws(BusError) -> FileReport {
        try await limited { [vault, backups] () async throws(VaultError) in try await vault.check(file, backups) }
    }

    /// Backs up all keychains now, and returns the copies after reading them back.
    func backUp() async throws(BusError) -> [KeychainCopy] {
        guard let backups else { throw BusError(.notSupported, "there is no home folder for backups") }
        return try await limited { [vault] () async throws(VaultError) in
            var files: Set<String> = []
            for collection in vault.collections where !collection.isVacant && !collection.isEphemeral {
                try await vault.backUp(collection.name, to: backups)
                files.insert(collection.name.fileName)
            }
            return try await vault.copies(backups).filter { copy in copy.kind == .backup && files.contains(copy.file) }
        }
    }

    private func stage(
        _ body: (Vault) async throws(VaultError) -> StagedBackup
    ) async throws(BusError) -> StagedBackup {
        staged.removeAll { entry in entry.backup == nil }
        guard staged.count + copying < Self.limit else {
            throw BusError(.limitsExceeded, "\(Self.limit) keychains are being restored already")
        }
        let backup = try await limited { [vault] () async throws(VaultError) in try await body(vault) }
        staged.append(Staged(backup: backup))
        return backup
    }

    /// Runs work that copies or reads whole files, within the limit.
    private func limited<Result>(_ body: () async throws(VaultError) -> Result) async throws(BusError) -> Result {
        guard copying < Self.limit else {
            throw BusError(.limitsExceeded, "\(Self.limit) other calls copy or read backups")
        }
        copying += 1
        defer { copying -= 1 }
        do throws(VaultError) {
            return try await body()
        } catch  where error.code == .unreadable || error.code == .unsupportedFormat {
            throw BusError(.invalidArguments, "the file cannot be read: \(error.reason)")
        } catch {
            throw BusError(error)
        }
    }
}

import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindVault
import Logging

/// The backups being restored; their number is limited, because each is a copy on the disk.
@BusActor
final class Restorations {
    /// The most restorations at a time, and the most tasks that copy or read files, of all connected clients together.
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
        weak var client: Client?
    }

    /// A task that copies or reads files, which may be on a disk that never answers.
    private final class FileTask {
        private(set) weak var client: Client?

        init(for client: Client) {
            self.client = client
        }
    }

    private var staged: [Staged] = []
    private var tasks: [ObjectIdentifier: FileTask] = [:]

    init(vault: Vault, backups: BackupFolder?, unlocker: Unlocker, logger: Logger) {
        self.vault = vault
        self.backups = backups
        self.unlocker = unlocker
        self.logger = logger
    }

    /// Copies a file that the caller has opened.
    func stage(_ file: FileDescriptor, for client: Client) async throws(BusError) -> StagedBackup {
        let descriptor = fcntl(file.rawValue, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw BusError(.limitsExceeded, "the descriptor cannot be duplicated") }
        let source = Handoff(OpenedFile(owning: descriptor))
        return try await stage(for: client) { (vault) async throws(VaultError) in
            guard let source = source.take() else { throw VaultError(.busy, reason: "the file was taken") }
            return try await vault.stage(source)
        }
    }

    /// Copies a generation or backup.
    func stage(copy id: String, for client: Client) async throws(BusError) -> StagedBackup {
        try await stage(for: client) { [backups] (vault) async throws(VaultError) in
            try await vault.stage(copy: id, backups)
        }
    }

    /// The generations and backups, oldest first.
    func copies(for client: Client) async throws(BusError) -> [KeychainCopy] {
        try await limited(for: client) { [vault, backups] () async throws(VaultError) in
            try await vault.copies(backups)
        }
    }

    /// The identifiers of the files that can be checked.
    func checkableFiles(for client: Client) async throws(BusError) -> [String] {
        try await limited(for: client) { [vault, backups] () async throws(VaultError) in
            try await vault.checkableFiles(backups)
        }
    }

    /// Checks one of them, with the keys at hand.
    func check(_ file: String, for client: Client) async throws(BusError) -> FileReport {
        try await limited(for: client) { [vault, backups] () async throws(VaultError) in
            try await vault.check(file, backups)
        }
    }

    /// Backs up all keychains now, and returns the copies after reading them back.
    ///
    /// Throws `Failed` if some have no new backup, after the others have theirs.
    func backUp(for client: Client) async throws(BusError) -> [KeychainCopy] {
        guard let backups else { throw BusError(.notSupported, "there is no home folder for backups") }
        var failures: [String] = []
        let copies = try await limited(for: client) { [vault] () async throws(VaultError) in
            var files: Set<String> = []
            for collection in vault.collections where !collection.isVacant && !collection.isEphemeral {
                do throws(VaultError) {
                    try await vault.backUp(collection.name, to: backups)
                    files.insert(collection.name.fileName)
                } catch {
                    failures.append("\(collection.label): \(error.reason)")
                }
            }
            return try await vault.copies(backups).filter { copy in copy.kind == .backup && files.contains(copy.file) }
        }
        guard failures.isEmpty else {
            throw BusError(.failed, "there is no new backup of \(failures.joined(separator: "; "))")
        }
        return copies
    }

    private func stage(
        for client: Client,
        _ body: (Vault) async throws(VaultError) -> StagedBackup
    ) async throws(BusError) -> StagedBackup {
        guard !tasks.values.contains(where: { task in task.client === client }) else {
            throw BusError(.limitsExceeded, "another file is being copied for you")
        }
        staged.removeAll { entry in entry.backup == nil }
        if staged.count + attendedTasks >= Self.limit { makeRoom(for: client) }
        guard staged.count + attendedTasks < Self.limit else {
            throw BusError(.limitsExceeded, "\(Self.limit) keychains are being restored already")
        }
        let backup = try await limited(for: client) { [vault] () async throws(VaultError) in try await body(vault) }
        staged.append(Staged(backup: backup, client: client))
        return backup
    }

    /// Dismisses the oldest restore that another client has not asked the person about, if this one has no place.
    ///
    /// Otherwise a program that does not run its prompts would block everybody's restores.
    private func makeRoom(for client: Client) {
        guard !staged.contains(where: { entry in entry.client === client }) else { return }
        for entry in staged {
            guard let backup = entry.backup, let holder = entry.client, holder.dismissUnrun(restoring: backup) else {
                continue
            }
            return staged.removeAll { entry in entry.backup === backup }
        }
    }

    /// The number of tasks whose client is still connected; those of other clients may never end.
    private var attendedTasks: Int {
        tasks.values.count { task in task.client?.isConnected == true }
    }

    /// Runs a task that copies or reads whole files; throws `LimitsExceeded` past the limits.
    private func limited<Result>(
        for client: Client,
        _ body: () async throws(VaultError) -> Result
    ) async throws(BusError) -> Result {
        guard attendedTasks < Self.limit, tasks.count < Vault.foreignFileThreads else {
            throw BusError(.limitsExceeded, "\(Self.limit) other calls copy or read backups")
        }
        let task = FileTask(for: client)
        tasks[ObjectIdentifier(task)] = task
        defer { tasks[ObjectIdentifier(task)] = nil }
        do throws(VaultError) {
            return try await body()
        } catch  where error.code == .unreadable || error.code == .unsupportedFormat {
            throw BusError(.invalidArguments, "the file cannot be read: \(error.reason)")
        } catch {
            throw BusError(error)
        }
    }
}

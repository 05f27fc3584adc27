import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindVault
import Logging

/// The backups being restored; their number is limited, because each is a copy on the disk.
@BusActor
final class Restorations {
    /// The most restores at a time, and the most files that are copied or read, of all clients together.
    static let limit = 2

    /// The time for which a client keeps its place although another one needs it.
    ///
    /// If it were shorter, two programs could push out a person who types a password.
    static let patience = Duration.seconds(120)

    let vault: Vault
    /// Nil if the user has no home folder.
    let backups: BackupFolder?
    let unlocker: Unlocker
    let logger: Logger

    private let clock: BootClock
    /// Wrong passwords of people for all copies; not stored, as a program has no part in them.
    private let people: LockoutKeeper
    private var restores: [RestorePlace] = []
    private var readings: [RestorePlace] = []

    init(vault: Vault, backups: BackupFolder?, unlocker: Unlocker, clock: BootClock, logger: Logger) {
        self.vault = vault
        self.backups = backups
        self.unlocker = unlocker
        self.clock = clock
        self.logger = logger
        people = LockoutKeeper(store: NoLockoutStore(), clock: clock)
    }

    /// The lockouts for the password of a copy, which is often that of its keychain: for programs they are the same.
    ///
    /// A program's right password clears nothing: it may know that of another copy, or have made one that names the
    /// same keychain.
    func lockout(of backup: StagedBackup) -> PasswordLockout {
        PasswordLockout(clearing: [.person]) { [self] source in
            switch source {
            case .person: people
            case .program:
                vault.original(of: backup).flatMap { unlocker.passwords.lockouts.keeper(of: $0, for: .programs) }
                    ?? unlocker.passwords.lockouts.others
            }
        }
    }

    /// Copies a file that the caller has opened.
    func stage(_ file: FileDescriptor, for client: Client) async throws(BusError) -> StagedBackup {
        let descriptor = fcntl(file.rawValue, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw BusError(.limitsExceeded, "the descriptor cannot be duplicated") }
        let source = Handoff(OpenedFile(owning: descriptor))
        return try await stage(for: client) { [vault] (stop) async throws(VaultError) in
            guard let source = source.take() else { throw VaultError(.busy, reason: "the file was taken") }
            return try await vault.stage(source, stop)
        }
    }

    /// Copies a generation or backup.
    func stage(copy id: String, for client: Client) async throws(BusError) -> StagedBackup {
        try await stage(for: client) { [vault, backups] (stop) async throws(VaultError) in
            try await vault.stage(copy: id, backups, stop)
        }
    }

    /// Remembers the dialog about a copy: it ends if the place is given away, and the place if it ends.
    func ask(about backup: StagedBackup, in conversation: Conversation) {
        restores.first { restore in restore.isRestore(of: backup) }?.ask(in: conversation)
    }

    /// The generations and backups, oldest first.
    func copies(for client: Client) async throws(BusError) -> [StoredCopy] {
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
    /// Throws `Failed` if some have no new backup that can be read, after the others have theirs; `LimitsExceeded` if
    /// those are too large.
    func backUp(for client: Client) async throws(BusError) -> [StoredCopy] {
        guard let backups else { throw BusError(.notSupported, "there is no home folder for backups") }
        let (copies, failures) = try await limited(for: client) { [vault] () async throws(VaultError) in
            var made: [String: Collection] = [:]
            var failures: [(label: String, error: VaultError)] = []
            for collection in vault.collections where !collection.isVacant && !collection.isEphemeral {
                do throws(VaultError) {
                    try await vault.backUp(collection.name, to: backups)
                    made[collection.name.fileName] = collection
                } catch {
                    failures.append((collection.label, error))
                }
            }
            let copies = try await vault.copies(backups).filter { copy in
                copy.kind == .backup && made.removeValue(forKey: copy.file) != nil
            }
            let unread = VaultError(.unreadable, reason: "its copy cannot be read back")
            return (copies, failures + made.values.map { collection in (collection.label, unread) })
        }
        guard failures.isEmpty else {
            let isTooLarge = failures.allSatisfy { failure in failure.error.code == .limitExceeded }
            let reasons = failures.map { failure in "\(failure.label): \(failure.error.reason)" }
            throw BusError(
                isTooLarge ? .limitsExceeded : .failed,
                "there is no new backup of \(reasons.joined(separator: "; "))"
            )
        }
        return copies
    }

    private func stage(
        for client: Client,
        _ body: @escaping @BusActor (CopyStop) async throws(VaultError) -> StagedBackup
    ) async throws(BusError) -> StagedBackup {
        restores.removeAll { restore in !restore.isTaken }
        guard !restores.contains(where: { restore in restore.client === client }) else {
            throw BusError(.limitsExceeded, "you are restoring another keychain")
        }
        makeRoom(among: restores + readings, for: client)
        guard (restores + readings).count(where: \.isTaken) < Self.limit else {
            throw BusError(.limitsExceeded, "\(Self.limit) keychains are being restored already")
        }
        let stop = CopyStop()
        return try await limited(for: client, stop) { () async throws(VaultError) in
            try await body(stop)
        } keep: { [self] backup in
            let copy = RestorePlace.Copy(backup: backup)
            restores.append(RestorePlace(of: client, began: clock.now, .staged(copy)))
        }
    }

    /// Ends the work of another client if no place is free: a restore whose prompt has not been run, else the oldest
    /// work, if that has taken longer than ``patience``.
    ///
    /// Otherwise two programs with prompts that they do not run, dialogs without an answer or files on a disk that
    /// never answers would block everybody's restores.
    private func makeRoom(among places: [RestorePlace], for client: Client) {
        guard places.count(where: \.isTaken) >= Self.limit else { return }
        let others = places.filter { place in place.isTaken && place.client !== client }
        if others.contains(where: { place in place.giveAwayUnrun() }) { return }
        let oldest = others.min { first, second in first.began < second.began }
        if let oldest, clock.now - oldest.began > Self.patience { oldest.giveAway() }
    }

    /// Runs work that copies or reads whole files, within the limits; throws once another client has its place.
    ///
    /// - Parameter keep: takes the result at its end, if the place was not given away.
    private func limited<Result: Sendable>(
        for client: Client,
        _ stop: CopyStop = CopyStop(),
        _ body: @escaping @BusActor () async throws(VaultError) -> Result,
        keep: @escaping @BusActor (Result) -> Void = { _ in }
    ) async throws(BusError) -> Result {
        // Readings of clients that have left.
        for reading in readings where !reading.isTaken { reading.giveAway() }
        guard !readings.contains(where: { reading in reading.isTaken && reading.client === client }) else {
            throw BusError(.limitsExceeded, "another call of yours copies or reads files")
        }
        makeRoom(among: readings, for: client)
        guard readings.count(where: \.isTaken) < Self.limit, readings.count < Vault.foreignFileThreads else {
            throw BusError(.limitsExceeded, "\(Self.limit) other calls copy or read backups")
        }
        let answer = Promise<Swift.Result<Result, BusError>>()
        let reading = RestorePlace(
            of: client,
            began: clock.now,
            .reading { [vault] in
                vault.stop(stop)
                let reason = "it took too long, and another program restores a keychain"
                answer.fulfill(.failure(BusError(.limitsExceeded, reason)))
            }
        )
        readings.append(reading)
        BusActor.start { [self] in
            let result = await Self.result(of: body)
            readings.removeAll { other in other === reading }
            if reading.isTaken, case .success(let value) = result { keep(value) }
            answer.fulfill(result)
        }
        return try await answer.value().get()
    }

    private static func result<Result>(
        of body: () async throws(VaultError) -> Result
    ) async -> Swift.Result<Result, BusError> {
        do throws(VaultError) {
            return .success(try await body())
        } catch  where error.code == .unreadable || error.code == .unsupportedFormat {
            return .failure(BusError(.invalidArguments, "the file cannot be read: \(error.reason)"))
        } catch {
            return .failure(BusError(error))
        }
    }
}

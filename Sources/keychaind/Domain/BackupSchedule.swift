import KeychaindDBus
import KeychaindModel
import KeychaindVault
import Logging

/// Sealed backups: a minute after a change, at most hourly for each keychain, and at exit.
@BusActor
final class BackupSchedule {
    /// Time from a change to its backup, to collect a batch of changes.
    private static let delay = Duration.seconds(60)

    /// Minimum time between two backups of a keychain.
    private static let interval = Duration.seconds(3600)

    private enum Work {
        /// Begins when the timer fires.
        case waiting(Timer)
        /// Is being made, perhaps of an earlier state than the present one; the disk may never answer.
        case running(isOutdated: Bool)
    }

    private let vault: Vault
    private let folder: BackupFolder
    private let logger: Logger
    private var work: [CollectionName: Work] = [:]
    private var last: [CollectionName: ContinuousClock.Instant] = [:]
    /// The keychains whose failure is already logged.
    private var failed: Set<CollectionName> = []

    init(_ vault: Vault, to folder: BackupFolder, logger: Logger) {
        self.vault = vault
        self.folder = folder
        self.logger = logger
        vault.onChange = { [weak self] name in self?.changed(name) }
    }

    /// Schedules keychains with outdated backups, as after a crash; requires an open vault.
    func catchUp() {
        BusActor.start { [self] in
            for collection in vault.collections where !collection.isEphemeral && collection.state != .vacant {
                if await !vault.hasCurrentBackup(collection, in: folder) { changed(collection.name) }
            }
        }
    }

    private func changed(_ name: CollectionName) {
        switch work[name] {
        case .waiting: return
        case .running: work[name] = .running(isOutdated: true)
        case nil: schedule(name)
        }
    }

    private func schedule(_ name: CollectionName) {
        let now = ContinuousClock.now
        let earliest = last[name].map { last in last + Self.interval } ?? now
        let timer = BusActor.loop.schedule(after: max(Self.delay, earliest - now)) { [weak self] in
            guard let self else { return }
            BusActor.start { await self.make(name) }
        }
        work[name] = .waiting(timer)
    }

    /// Makes the backups that have not begun, and outdated ones again, and waits for all.
    func finish() async {
        vault.onChange = nil
        // One that fires while another backup is made would make a second one of its keychain.
        for case .waiting(let timer) in work.values { BusActor.loop.cancel(timer) }
        for (name, state) in work.sorted(by: { first, second in first.key < second.key }) {
            switch state {
            case .waiting, .running(isOutdated: true): await make(name)
            case .running(isOutdated: false): break
            }
        }
        await vault.waitForBackups()
    }

    private func make(_ name: CollectionName) async {
        last[name] = ContinuousClock.now
        work[name] = .running(isOutdated: false)
        defer {
            if case .running(isOutdated: true) = work[name] { schedule(name) } else { work[name] = nil }
        }
        do throws(VaultError) {
            try await vault.backUp(name, to: folder)
            failed.remove(name)
        } catch {
            // A locked one is copied after its unlock; others are logged once, not every hour.
            guard error.code != .locked, failed.insert(name).inserted else { return }
            logger.warning(
                "A keychain has no new backup",
                metadata: ["keychain": "\(name)", "folder": "\(folder.path)", "reason": "\(error.reason)"]
            )
        }
    }
}

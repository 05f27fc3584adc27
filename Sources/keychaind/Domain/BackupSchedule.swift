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

    private let vault: Vault
    private let folder: BackupFolder
    private let logger: Logger
    private var pending: [CollectionName: Timer] = [:]
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
        for collection in vault.collections where !collection.isEphemeral && collection.state != .vacant {
            if !folder.isCurrent(collection) { changed(collection.name) }
        }
    }

    private func changed(_ name: CollectionName) {
        guard pending[name] == nil else { return }
        let now = ContinuousClock.now
        let earliest = last[name].map { last in last + Self.interval } ?? now
        pending[name] = BusActor.loop.schedule(after: max(Self.delay, earliest - now)) { [weak self] in
            guard let self else { return }
            self.pending[name] = nil
            BusActor.start { await self.make(name) }
        }
    }

    /// Makes the pending backups.
    func finish() async {
        vault.onChange = nil
        let names = pending.keys.sorted()
        for timer in pending.values { BusActor.loop.cancel(timer) }
        pending = [:]
        for name in names { await make(name) }
    }

    private func make(_ name: CollectionName) async {
        last[name] = ContinuousClock.now
        do throws(VaultError) {
            try await vault.backUp(name, to: folder)
            failed.remove(name)
        } catch {
            // Logged once, not every hour.
            guard failed.insert(name).inserted else { return }
            logger.warning(
                "A keychain has no new backup",
                metadata: ["keychain": "\(name)", "folder": "\(folder.path)", "reason": "\(error.reason)"]
            )
        }
    }
}

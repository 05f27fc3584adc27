import DBus
import KeychainModel
import Logging
import Vault

/// When sealed copies of keychains are made: a minute after a change, at most once an hour each, and at the end.
@BusActor
final class BackupSchedule {
    /// From a change to the copy: what a program changes at once is in one copy.
    private static let delay = Duration.seconds(60)

    /// From one copy of a keychain to the next.
    private static let interval = Duration.seconds(3600)

    private let vault: Vault
    private let folder: BackupFolder
    private let logger: Logger
    private var pending: [CollectionName: Timer] = [:]
    private var last: [CollectionName: ContinuousClock.Instant] = [:]
    /// The keychains of which it was said that there is no copy.
    private var failed: Set<CollectionName> = []

    init(_ vault: Vault, to folder: BackupFolder, logger: Logger) {
        self.vault = vault
        self.folder = folder
        self.logger = logger
        vault.onChange = { [weak self] name in self?.changed(name) }
    }

    /// Takes up what has changed without a copy, as before a crash; for the time when the vault is open.
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

    /// Makes the copies that changes still wait for.
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
            // Once, and not every hour.
            guard failed.insert(name).inserted else { return }
            logger.warning(
                "A keychain has no new backup",
                metadata: ["keychain": "\(name)", "folder": "\(folder.path)", "reason": "\(error.reason)"]
            )
        }
    }
}

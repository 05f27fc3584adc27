import KeychaindDBus
import KeychaindVault

/// Opens files again that could not be read or written for a cause that may pass, at growing intervals until they can.
@BusActor
final class DiskRetry {
    private static let first = Duration.seconds(1)
    private static let longest = Duration.seconds(60)

    private let vault: Vault
    private let collections: Collections
    private let sandboxes: Sandboxes
    private var interval = DiskRetry.first
    private var timer: Timer?

    init(_ vault: Vault, collections: Collections, sandboxes: Sandboxes) {
        self.vault = vault
        self.collections = collections
        self.sandboxes = sandboxes
    }

    /// Begins, if a file waits for the disk.
    func start() {
        guard timer == nil, vault.awaitsDisk else { return }
        timer = BusActor.loop.schedule(after: interval) { [weak self] in
            BusActor.start { await self?.tryAgain() }
        }
        interval = min(interval * 2, Self.longest)
    }

    func end() {
        timer.map(BusActor.loop.cancel)
        timer = nil
    }

    /// Whether ``end()`` was called since a try began.
    private var hasEnded: Bool { timer == nil }

    private func tryAgain() async {
        // Before the keychains, whose disks may not answer.
        if await vault.readStateAgain(), !hasEnded {
            collections.lockouts.readAgain()
            await sandboxes.recordsCanBeRead()
        }
        guard !hasEnded else { return }
        await vault.readCollectionsAgain { new in
            guard !hasEnded else { return }
            collections.announceReplacement(of: new.name, because: "the login keychain was opened again")
        }
        guard !hasEnded else { return }
        timer = nil
        if !vault.awaitsDisk { interval = Self.first }
        start()
    }
}

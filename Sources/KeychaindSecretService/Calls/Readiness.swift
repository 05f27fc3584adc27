import KeychaindDBus
import KeychaindVault

/// The opening and closing of the vault, with the waits of calls for it.
///
/// A program that finds the service locked or empty at login assumes a logout, and overwrites its keys. Its calls wait
/// instead, for a bounded time.
@BusActor
final class Readiness {
    private enum State {
        case opening(Promise<Void>)
        case ready
        /// With the error for calls.
        case ended(BusError)
    }

    private let limit: Duration
    private var state = State.opening(Promise())

    /// - Parameter limit: the maximum wait of a call.
    nonisolated init(limit: Duration) {
        self.limit = limit
    }

    var isOpening: Bool {
        if case .opening = state { true } else { false }
    }

    var hasEnded: Bool { reasonOfEnd != nil }

    /// The error for calls after the end.
    var reasonOfEnd: BusError? {
        if case .ended(let reason) = state { reason } else { nil }
    }

    /// Resumes waiting calls; false if called before or after the end.
    func open() -> Bool {
        guard case .opening(let opened) = state else { return false }
        state = .ready
        opened.fulfill()
        return true
    }

    /// Begins the shutdown; false if called before.
    func end(because reason: BusError) -> Bool {
        let ended = state
        guard !hasEnded else { return false }
        state = .ended(reason)
        if case .opening(let opened) = ended { opened.fulfill() }
        return true
    }

    /// Waits until the vault is open or the service ends, within the limit.
    func waitUntilOpen() async {
        guard case .opening(let opened) = state else { return }
        _ = await opened.wait(within: limit)
    }

    /// Waits until the vault is open and the keys of the collections are derived, within one limit for all.
    func waitForKeys(of collections: () -> [Collection]) async {
        let deadline = ContinuousClock.now + limit
        await waitUntilOpen()
        // Keychains that open with `login` are unlocked after it.
        guard await waitUntilSettled(collections().compactMap(\.awaitedLogin), until: deadline) else { return }
        _ = await waitUntilSettled(collections().filter(\.isAwaited), until: deadline)
    }

    /// Waits until no key of the collections is being derived; false if that takes too long.
    private func waitUntilSettled(_ awaited: [Collection], until deadline: ContinuousClock.Instant) async -> Bool {
        guard !awaited.isEmpty else { return true }
        let settled = Promise<Void>()
        var count = awaited.count
        for collection in awaited {
            collection.onSettled {
                count -= 1
                if count == 0 { settled.fulfill() }
            }
        }
        return await settled.wait(within: deadline - .now)
    }

    /// Waits while another file is put in place of a collection's, within the limit.
    func waitForReplacement(of collection: Collection, in vault: Vault) async {
        let ended = Promise<Void>()
        BusActor.start {
            await vault.waitForReplacement(of: collection)
            ended.fulfill()
        }
        _ = await ended.wait(within: limit)
    }
}

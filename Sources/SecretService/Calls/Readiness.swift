import DBus
import Vault

/// Whether the vault can be asked, and the waiting until it can.
///
/// A program that is told "locked" or "nothing there" at login believes that it is logged out, and overwrites its keys. So its calls
/// wait, for a bounded time.
@BusActor
final class Readiness {
    private enum State {
        case opening(Promise<Void>)
        case ready
        case ended
    }

    private let limit: Duration
    private var state = State.opening(Promise())

    /// - Parameter limit: how long a call waits for the vault and for keys, each.
    nonisolated init(limit: Duration) {
        self.limit = limit
    }

    /// Whether the vault is still being opened.
    var isOpening: Bool {
        if case .opening = state { true } else { false }
    }

    /// Whether the service has begun to end.
    var hasEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// Lets the calls that wait for the vault go on; false if it is open or closed already.
    func open() -> Bool {
        guard case .opening(let opened) = state else { return false }
        state = .ready
        opened.fulfill()
        return true
    }

    /// Begins the end; false if it has begun before.
    func end() -> Bool {
        let ended = state
        state = .ended
        switch ended {
        case .opening(let opened): opened.fulfill()
        case .ready: break
        case .ended: return false
        }
        return true
    }

    /// Waits until the vault is open, or the end, for a bounded time.
    func waitUntilOpen() async {
        guard case .opening(let opened) = state else { return }
        _ = await opened.wait(within: limit)
    }

    /// Waits until no key of the collections is being derived, for a bounded time in all.
    func waitForKeys(of collections: [Collection]) async {
        let awaited = collections.filter(\.isAwaited)
        guard !awaited.isEmpty else { return }
        let settled = Promise<Void>()
        var count = awaited.count
        for collection in awaited {
            collection.onSettled {
                count -= 1
                if count == 0 { settled.fulfill() }
            }
        }
        _ = await settled.wait(within: limit)
    }
}

import CKeychaindFIDO
import Synchronization

/// The key whose operation another thread may cancel.
final class CurrentKey: Sendable {
    private struct State: @unchecked Sendable {
        var key: OpaquePointer?
        var isCancelled = false
    }

    // The pointer is used only inside of the lock, which a key takes before it closes.
    private let state = Mutex(State())

    func set(_ key: OpaquePointer?) {
        state.withLock { $0.key = key }
    }

    var isCancelled: Bool { state.withLock(\.isCancelled) }

    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            if let key = state.key { keychaind_fido_cancel(key) }
        }
    }
}

import DBus

/// Lets one in at a time, in the order in which they came.
@BusActor
final class TurnQueue {
    private enum State {
        case free
        case taken(waiting: [CheckedContinuation<Void, Never>])
    }

    private var state = State.free

    /// Waits for the turn, which has to be given back with ``leave()``.
    func enter() async {
        await withCheckedContinuation { continuation in
            switch state {
            case .free:
                state = .taken(waiting: [])
                continuation.resume()
            case .taken(let waiting):
                state = .taken(waiting: waiting + [continuation])
            }
        }
    }

    /// Gives the turn to the next.
    func leave() {
        guard case .taken(var waiting) = state else { return }
        guard !waiting.isEmpty else {
            state = .free
            return
        }
        let next = waiting.removeFirst()
        state = .taken(waiting: waiting)
        next.resume()
    }
}

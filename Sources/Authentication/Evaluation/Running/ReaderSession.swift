import DBus

/// The reader's part of an evaluation: one match after the other, as long as a finger is of use.
@BusActor
final class ReaderSession {
    private enum State {
        case idle
        case matching(any BiometryMatch, number: Int)
    }

    private let biometry: any Biometry
    private let events: EventQueue<EvaluationEvent>
    private var state = State.idle
    private var matchCount = 0

    init(_ biometry: any Biometry, events: EventQueue<EvaluationEvent>) {
        self.biometry = biometry
        self.events = events
    }

    /// Begins a match, unless one is under way.
    func start() {
        guard case .idle = state else { return }
        matchCount += 1
        let number = matchCount
        let match = biometry.match { [events] hint in events.post(.hint(hint, match: number)) }
        state = .matching(match, number: number)
        BusActor.start { [events] in
            let outcome = await match.outcome()
            events.post(.touched(outcome, match: number))
        }
    }

    /// Lets the reader go.
    func stop() {
        guard case .matching(let match, _) = state else { return }
        state = .idle
        match.cancel()
    }

    /// Whether the match with the number is under way.
    func isCurrent(_ number: Int) -> Bool {
        if case .matching(_, number) = state { true } else { false }
    }

    /// Takes note that the match with the number has ended; false if nobody waits for it any more.
    func finish(_ number: Int) -> Bool {
        guard isCurrent(number) else { return false }
        state = .idle
        return true
    }
}

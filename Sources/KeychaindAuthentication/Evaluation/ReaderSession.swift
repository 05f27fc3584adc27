import KeychaindDBus

/// Runs the matches of an evaluation one after the other.
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

    /// Starts a match, unless one is running.
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

    func stop() {
        guard case .matching(let match, _) = state else { return }
        state = .idle
        match.cancel()
    }

    func isCurrent(_ number: Int) -> Bool {
        if case .matching(_, number) = state { true } else { false }
    }

    /// Records the end of a match; false if it was cancelled.
    func finish(_ number: Int) -> Bool {
        guard isCurrent(number) else { return false }
        state = .idle
        return true
    }
}

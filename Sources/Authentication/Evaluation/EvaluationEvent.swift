import DBus
import KeychainModel

/// An event of an evaluation.
enum EvaluationEvent: Hashable, Sendable {
    /// The turn to ask has come, or will not come for that reason.
    case turn(AuthenticationError?)

    /// The dialog is on the screen.
    case shown

    /// The reader has a hint for the person, in the match with that number.
    case hint(BiometryHint, match: Int)

    /// The match with that number has ended.
    case touched(BiometryOutcome, match: Int)

    /// A typed password was tried; the factor is what it proves if it is right.
    case typed(PasswordResult, proving: Factor)

    /// The question was answered without a password.
    case answered(AuthenticationError)

    /// The question was not asked, or its answer does not count, as the prompter is not trusted.
    case untrusted(reason: String)

    /// The question was withdrawn.
    case withdrawn

    /// The dialog of the system has ended; nil for success.
    case systemAnswered(AuthenticationError?)

    /// The evaluation was cancelled from outside.
    case cancelled(AuthenticationError)
}

/// A queue of events with one consumer.
@BusActor
final class EventQueue<Event> {
    private var events: [Event] = []
    private var arrival = Promise<Void>()

    /// Adds an event, and resumes the consumer if it waits.
    func post(_ event: Event) {
        events.append(event)
        arrival.fulfill()
    }

    /// Removes the next event; nil if there is none.
    func takeFirst() -> Event? {
        events.isEmpty ? nil : events.removeFirst()
    }

    /// Waits until there is an event.
    func wait() async {
        guard events.isEmpty else { return }
        arrival = Promise()
        await arrival.wait()
    }
}

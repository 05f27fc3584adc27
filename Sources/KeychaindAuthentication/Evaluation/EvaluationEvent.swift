import KeychaindDBus
import KeychaindModel

/// An input of an evaluation: from the person, the reader, a dialog or the caller.
enum EvaluationEvent: Hashable, Sendable {
    /// The turn has come, or cannot come.
    case turn(AuthenticationError?)

    case shown

    /// A hint of the reader in the match of that number.
    case hint(BiometryHint, match: Int)

    case touched(BiometryOutcome, match: Int)

    /// A typed password was verified; if right, it proves the factor.
    case typed(PasswordResult, proving: Factor)

    /// The question ended without a password.
    case answered(AuthenticationError)

    /// The prompter is not trusted: the question was not asked, or its answer does not count.
    case untrusted(reason: String)

    case withdrawn

    case cancelled(AuthenticationError)
}

/// A queue of events with one consumer.
@BusActor
final class EventQueue<Event> {
    private var events: [Event] = []
    private var arrival = Promise<Void>()

    func post(_ event: Event) {
        events.append(event)
        arrival.fulfill()
    }

    func takeFirst() -> Event? {
        events.isEmpty ? nil : events.removeFirst()
    }

    func wait() async {
        guard events.isEmpty else { return }
        arrival = Promise()
        await arrival.wait()
    }
}

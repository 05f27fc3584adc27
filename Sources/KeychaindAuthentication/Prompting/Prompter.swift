package import KeychaindDBus
package import KeychaindDesktop
package import KeychaindGcrypt

/// A connection for which a person is asked.
@BusActor
package protocol Requester: AnyObject, Sendable {
    /// The unique name.
    nonisolated var name: String { get }

    /// The program behind the connection.
    func caller() async -> Caller

    /// The same, if it is known by now.
    var knownCaller: Caller? { get }

    /// The program that its questions are counted for.
    func program() async -> Program
}

extension Requester {
    package func program() async -> Program { Program(of: await caller()) }
}

/// A program that shows dialogs, and decides nothing.
@BusActor
package protocol Prompter: AnyObject {
    /// The name in logs.
    var name: String { get }

    /// The trust that a dialog would probably have, without starting or showing anything; nil if none can be opened.
    func expectedTrust(for requester: any Requester) async -> PrompterTrust?

    /// Opens a dialog, which the caller must close.
    ///
    /// Returns once the prompter has accepted the dialog, even if it shows others first. Throws
    /// ``PromptError/Code/unavailable`` at once if the prompter is missing or cannot ask such a question.
    ///
    /// - Parameter question: the kind of the first question.
    func open(
        for requester: any Requester,
        asking question: PromptRequest.Question
    ) async throws(PromptError) -> any PromptDialog
}

/// A prompter's dialog, from opening to closing.
@BusActor
package protocol PromptDialog: AnyObject, Sendable {
    func canAsk(_ question: PromptRequest.Question) -> Bool

    /// Asks, and waits for the answer; may be called again, such as after a wrong password.
    ///
    /// A cancelled, closed or failed dialog repeats its last result. Throws ``PromptError/Code/timedOut`` after the
    /// prompter's time limit.
    ///
    /// - Parameter whenShown: called when the prompter has taken the question.
    func ask(
        _ request: PromptRequest,
        whenShown: @escaping @BusActor () -> Void
    ) async throws(PromptError) -> PromptAnswer

    /// Whether the person took ``PromptRequest/choice`` with the last answer.
    var hasChosen: Bool { get }

    /// Whether the dialog is what the person looks at, as far as it can tell: another window may have the keyboard.
    var isActive: Bool { get }

    /// Changes the texts of the waiting question; false, without effect, if the prompter cannot.
    func revise(_ request: PromptRequest) -> Bool

    /// The current trust in the dialog, examined at each call.
    func trust() async -> PrompterTrust

    /// Closes the dialog; a waiting question is answered ``PromptAnswer/withdrawn``.
    func close()
}

extension PromptDialog {
    package var hasChosen: Bool { false }
    package var isActive: Bool { true }
}

/// The answer of a person; not copyable, as it may hold a password.
///
/// System failures are a ``PromptError``.
package enum PromptAnswer: ~Copyable, Sendable {
    /// A password, possibly empty.
    case password(SecureBytes)
    case confirmed
    /// The button labelled ``PromptRequest/fallbackLabel``.
    case fallback
    /// The person cancelled, or closed the window.
    case cancelled
    /// The daemon withdrew the question.
    case withdrawn
}

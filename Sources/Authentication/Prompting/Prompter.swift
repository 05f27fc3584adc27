package import DBus
package import Desktop
package import Gcrypt

/// A connection for which a person is asked.
@BusActor
package protocol Requester: AnyObject, Sendable {
    /// The unique name.
    nonisolated var name: String { get }

    /// The program behind the connection.
    func caller() async -> Caller
}

/// A program that shows dialogs, and decides nothing.
@BusActor
package protocol Prompter: AnyObject {
    /// The name in logs.
    var name: String { get }

    /// Whether a dialog can probably be opened now; nothing is started or shown to find out.
    func isAvailable(for requester: any Requester) async -> Bool

    /// Opens a dialog, which the caller must close.
    ///
    /// Returns once the prompter has accepted the dialog, although it may show others first. Throws
    /// ``PromptError/Code/unavailable`` immediately if the prompter is not there or cannot ask such a question.
    ///
    /// - Parameter question: the kind of the first question.
    func open(
        for requester: any Requester,
        asking question: PromptRequest.Question
    ) async throws(PromptError) -> any PromptDialog
}

/// A dialog of a prompter, from opening to closing.
@BusActor
package protocol PromptDialog: AnyObject, Sendable {
    /// Whether the dialog can ask that kind of question.
    func canAsk(_ question: PromptRequest.Question) -> Bool

    /// Asks, and waits for the answer; may be called again, such as after a wrong password.
    ///
    /// A cancelled, closed or failed dialog repeats its last result. Throws ``PromptError/Code/timedOut`` after the
    /// time limit of the prompter.
    ///
    /// - Parameter whenShown: called when the prompter has taken the question.
    func ask(
        _ request: PromptRequest,
        whenShown: @escaping @BusActor () -> Void
    ) async throws(PromptError) -> PromptAnswer

    /// Changes the texts of the waiting question; returns false, and changes nothing, if the prompter cannot.
    func revise(_ request: PromptRequest) -> Bool

    /// The current trust in the dialog, examined at each call.
    func trust() async -> PrompterTrust

    /// Closes the dialog, at any time; the waiting question is answered ``PromptAnswer/withdrawn``.
    func close()
}

/// The answer of a person; not copyable, as it may hold a password.
///
/// Failures of the system are a ``PromptError``.
package enum PromptAnswer: ~Copyable, Sendable {
    /// A password, maybe empty.
    case password(SecureBytes)
    /// Yes.
    case confirmed
    /// The button with the ``PromptRequest/fallbackLabel``.
    case fallback
    /// No: the person has cancelled, or closed the window.
    case cancelled
    /// No answer: the daemon has withdrawn the question.
    case withdrawn
}

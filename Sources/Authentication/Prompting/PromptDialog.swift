package import DBus

/// One dialog of a prompter, from its opening to its closing.
@BusActor
package protocol PromptDialog: AnyObject, Sendable {
    /// Whether it can ask that kind of question.
    func canAsk(_ question: PromptRequest.Question) -> Bool

    /// Asks, and waits for the answer; may be called again, one question after the other, such as after a wrong password.
    ///
    /// A dialog that was cancelled or closed gives the same answer again, and one that has failed fails in the same way again. Whoever
    /// waits does not wait for ever: after the prompter's time for an answer it throws ``PromptError/Code/timedOut``.
    ///
    /// - Parameter whenShown: called as soon as the prompter has taken the question; not if it never does.
    func ask(
        _ request: PromptRequest,
        whenShown: @escaping @BusActor () -> Void
    ) async throws(PromptError) -> PromptAnswer

    /// Changes the words of the question that waits for its answer; false, and nothing changes, where the prompter cannot.
    func revise(_ request: PromptRequest) -> Bool

    /// How far its answers count at this moment; found out anew each time.
    func trust() async -> PrompterTrust

    /// Takes the dialog off the screen, at any time; a question that waits is answered ``PromptAnswer/withdrawn``.
    func close()
}

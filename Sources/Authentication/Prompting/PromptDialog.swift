package import DBus

/// One dialog, from its opening to its closing.
@BusActor
package protocol PromptDialog: AnyObject, Sendable {
    /// Asks, and waits for the answer; may be called again, one question after the other, such as after a wrong password.
    ///
    /// A dialog that was dismissed or closed answers ``PromptAnswer/dismissed``, and one that has failed fails in the same way again.
    /// Whoever waits does not wait for ever: after the prompter's time for an answer it throws ``PromptError/Code/timedOut``.
    func ask(_ request: PromptRequest) async throws(PromptError) -> PromptAnswer

    /// Takes the dialog off the screen, at any time; a question that waits is answered ``PromptAnswer/dismissed``.
    func close()
}

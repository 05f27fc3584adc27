/// What a ``FakePrompter`` does with a question.
package enum PromptResponse: Hashable, Sendable {
    /// Types this password, or confirms.
    case answer(String)
    /// Types this password in a dialog whose shared secret begins with a zero, as one in 256 does.
    case answerWithShortSecret(String)
    /// Presses the button that dismisses.
    case cancel
    /// Never answers.
    case hang
    /// Takes the dialog away without an answer.
    case withdraw
    /// Leaves the bus.
    case crash
    /// Fails the call that asks.
    case refuse
    /// Answers with this.
    case says(_ reply: String, exchange: String)
}

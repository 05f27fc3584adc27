/// What a ``FakePrompter`` does with a new dialog.
package enum PromptGreeting: Hashable, Sendable {
    /// Answers the call, then says that it is ready.
    case ready
    /// Says that it is ready, then answers the call.
    case readyFirst
    /// Answers the call, and never becomes ready.
    case silent
    /// Never answers the call.
    case unanswered
    /// Fails the call.
    case refusal
    /// Leaves the bus.
    case crash
    /// Answers the call, then says this.
    case says(_ reply: String, exchange: String)
}

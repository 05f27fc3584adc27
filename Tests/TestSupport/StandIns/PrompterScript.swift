package import KeychaindDBus

/// The reaction of a ``FakePrompter`` to a new dialog.
package enum PromptGreeting: Hashable, Sendable {
    /// Answers the call, then becomes ready.
    case ready
    /// Becomes ready, then answers the call.
    case readyFirst
    /// Answers the call and never becomes ready.
    case silent
    /// Never answers the call.
    case unanswered
    /// Fails the call.
    case refusal
    /// Leaves the bus.
    case crash
    /// Answers the call, then sends this.
    case says(_ reply: String, exchange: String)
}

/// A question to a ``FakePrompter``.
package struct PromptQuestion: Sendable {
    /// `password` or `confirm`.
    package let type: String
    /// The texts and options, such as `title`.
    package let properties: [String: Variant]
    /// The caller's unique name.
    package let caller: String
    /// The callback object.
    package let callback: ObjectPath
    /// The caller's half of the key exchange.
    package let exchange: String

    /// A text property, nil if it is missing.
    package func text(_ name: String) -> String? {
        guard case .string(let text) = properties[name] else { return nil }
        return text
    }

    /// The message without the caller, whose name is before "wants to".
    package var wish: String? {
        guard let parts = text("message")?.split(separator: " wants to ", maxSplits: 1) else { return nil }
        return parts.last.map(String.init)
    }
}

/// The reaction of a ``FakePrompter`` to a question.
package enum PromptResponse: Hashable, Sendable {
    /// Types this password, or confirms.
    case answer(String)
    /// The same, with the checkbox ticked, or cleared.
    case answerWithCheckbox(String, isTicked: Bool)
    /// Types this password in a dialog whose shared secret begins with a zero byte, as one in 256 does.
    case answerWithShortSecret(String)
    /// Presses the cancel button.
    case cancel
    /// Never answers.
    case hang
    /// Closes the dialog without an answer.
    case withdraw
    /// Leaves the bus.
    case crash
    /// Fails the call that asks.
    case refuse
    /// Answers with this.
    case says(_ reply: String, exchange: String)
}

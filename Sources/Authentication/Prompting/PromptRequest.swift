import Desktop

/// A question to a person, with its texts.
///
/// ``PromptText`` cleans the texts, so that prompters show them unchanged. An empty text leaves out its part of the
/// dialog, or for a button uses the label of the prompter.
package struct PromptRequest: Hashable, Sendable {
    /// The kinds of question.
    package enum Question: Hashable, Sendable {
        /// An existing password.
        case password
        /// A new password: the dialog asks for it twice, and shows its strength.
        case newPassword
        /// Yes or no.
        case confirmation
        /// No question: the dialog waits for something else, such as a touch. The person can cancel, or choose
        /// ``fallbackLabel``.
        case waiting
    }

    /// The maximum length of ``caller`` and of ``callerEvidence``, in characters.
    package static let callerLimit = 300

    /// The kind of question.
    package let question: Question

    /// The title of the window.
    package let title: String

    /// The headline, in a few words.
    package let message: String

    /// The name of the collection, for a prompter that only has texts of its own.
    package let subject: String

    /// The explanation.
    package let description: String

    /// The caller, in words; empty if the daemon asks for itself.
    package let caller: String

    /// How the caller was identified, in words that follow "identified by"; may be empty.
    package let callerEvidence: String

    /// What went wrong before, or how to hold the finger.
    package var warning: String {
        didSet { warning = PromptText.text(warning) }
    }

    /// The label of the button that answers.
    package let continueLabel: String

    /// The label of the button that cancels.
    package let cancelLabel: String

    /// The label of the fallback button; empty for no such button.
    ///
    /// Shown with ``Question/waiting``, and with ``Question/confirmation`` if the prompter can show three buttons.
    package let fallbackLabel: String

    /// Whether a touch of the reader answers the question, too.
    package let acceptsTouch: Bool

    /// The parent window of the dialog, as the client gave it (#116).
    package let windowID: String

    /// Creates a request.
    package init(
        question: Question,
        title: String = "",
        message: String,
        subject: String = "",
        description: String = "",
        caller: String = "",
        callerEvidence: String = "",
        warning: String = "",
        continueLabel: String = "",
        cancelLabel: String = "",
        fallbackLabel: String = "",
        acceptsTouch: Bool = false,
        windowID: String = ""
    ) {
        self.question = question
        self.title = PromptText.line(title)
        self.message = PromptText.text(message)
        self.subject = PromptText.line(subject)
        self.description = PromptText.text(description)
        self.caller = PromptText.line(caller, limit: PromptRequest.callerLimit)
        self.callerEvidence = PromptText.line(callerEvidence, limit: PromptRequest.callerLimit)
        self.warning = PromptText.text(warning)
        self.continueLabel = PromptText.line(continueLabel)
        self.cancelLabel = PromptText.line(cancelLabel)
        self.fallbackLabel = PromptText.line(fallbackLabel)
        self.acceptsTouch = acceptsTouch
        self.windowID = PromptText.line(windowID)
    }

    /// Whether a touch or a click answers: then the dialog must be one that a person sees.
    var needsTrust: Bool {
        switch question {
        case .password, .newPassword: acceptsTouch
        case .confirmation, .waiting: true
        }
    }

    /// The caller, then the explanation: in this order, a long explanation cannot hide the caller.
    var story: String {
        [origin, description].filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    /// The caller in a sentence; empty if the daemon asks for itself.
    var origin: String {
        if caller.isEmpty { return "" }
        return "Requested by \(caller)" + (callerEvidence.isEmpty ? "." : ", identified by \(callerEvidence).")
    }
}

import Desktop

/// What to ask a person, and the words to ask it with.
///
/// Texts are cleaned by ``PromptText`` as they are set, so that prompters may show them as they are. An empty text leaves its part of
/// the dialog out; for a label, the prompter has its own.
package struct PromptRequest: Hashable, Sendable {
    /// What kind of answer is wanted.
    package enum Question: Hashable, Sendable {
        /// A password that exists.
        case password
        /// A password that is to be: the dialog has it entered twice, and shows its strength.
        case newPassword
        /// Yes or no.
        case confirmation
        /// None: something else is waited for, such as a finger. A person can only cancel, or choose ``fallbackLabel``.
        case waiting
    }

    /// How many characters ``caller`` may have, and ``callerEvidence``.
    package static let callerLimit = 300

    /// What kind of answer is wanted.
    package let question: Question

    /// The title of the window.
    package let title: String

    /// What it is about, in a few words, which stand out.
    package let message: String

    /// The name of the collection that it is about, for a prompter that has only words of its own.
    package let subject: String

    /// The whole story: for what, and why.
    package let description: String

    /// Who asks, in words; empty if the daemon asks for itself.
    package let caller: String

    /// What makes the daemon say so, in words that can stand after "identified by"; may be empty.
    package let callerEvidence: String

    /// What went wrong the last time, such as a wrong password, or how to do better: with a finger, say.
    package var warning: String {
        didSet { warning = PromptText.text(warning) }
    }

    /// On the button that answers.
    package let continueLabel: String

    /// On the button that cancels.
    package let cancelLabel: String

    /// On the button for another way than the one that is asked for; if it is empty there is no such button.
    ///
    /// Shown with ``Question/waiting``; with ``Question/confirmation`` where the prompter can show three buttons; never with passwords.
    package let fallbackLabel: String

    /// Whether a touch at the reader answers it, too.
    package let acceptsTouch: Bool

    /// The window that the dialog belongs to, as the client gave it (spec point #116).
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

    /// Whether an answer counts for which nothing has to be known: only a dialog that a person sees may give it.
    var needsTrust: Bool {
        switch question {
        case .password, .newPassword: acceptsTouch
        case .confirmation, .waiting: true
        }
    }

    /// Who asks, and then why: in this order, so that no story is long enough to hide who tells it.
    var story: String {
        [origin, description].filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    /// Who asks, as a sentence; empty if the daemon asks for itself.
    var origin: String {
        if caller.isEmpty { return "" }
        return "Requested by \(caller)" + (callerEvidence.isEmpty ? "." : ", identified by \(callerEvidence).")
    }
}

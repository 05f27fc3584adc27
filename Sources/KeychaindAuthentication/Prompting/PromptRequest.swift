import KeychaindDesktop

/// A question to a person, with its texts.
///
/// ``PromptText`` cleans the texts, so that prompters show them unchanged. An empty text omits its part of the dialog;
/// an empty label stands for the prompter's default.
package struct PromptRequest: Hashable, Sendable {
    package enum Question: Hashable, Sendable {
        case password
        /// The dialog asks for the password twice, and shows its strength.
        case newPassword
        case confirmation
        /// The dialog waits for something else, such as a touch. The person can cancel, or choose ``fallbackLabel``.
        case waiting
    }

    /// The maximum length of ``caller`` and ``callerDetails``, in characters.
    package static let callerLimit = 500

    package let question: Question
    package let title: String
    package let message: String

    /// The name of the collection, for a prompter with fixed texts.
    package let subject: String

    package let description: String

    /// The name of the caller, for a prompter with fixed texts; empty for the daemon itself.
    package let caller: String

    /// The evidence of the caller's identity, in sentences; may be empty.
    package let callerDetails: String

    /// The previous mistake, or how to hold the finger.
    package var warning: String {
        didSet { warning = PromptText.text(warning) }
    }

    package let continueLabel: String

    package let cancelLabel: String

    /// The label of the fallback button; empty for none.
    ///
    /// Shown with ``Question/waiting``, and with ``Question/confirmation`` by prompters with three buttons.
    package let fallbackLabel: String

    package let acceptsTouch: Bool

    /// The parent window, as the client gave it (#116).
    package let windowID: String

    package init(
        question: Question,
        title: String = "",
        message: String,
        subject: String = "",
        description: String = "",
        caller: String = "",
        callerDetails: String = "",
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
        self.callerDetails = PromptText.line(callerDetails, limit: PromptRequest.callerLimit)
        self.warning = PromptText.text(warning)
        self.continueLabel = PromptText.line(continueLabel)
        self.cancelLabel = PromptText.line(cancelLabel)
        self.fallbackLabel = PromptText.line(fallbackLabel)
        self.acceptsTouch = acceptsTouch
        self.windowID = PromptText.line(windowID)
    }

    /// Whether a touch or a click answers, so that a person must see the dialog.
    var needsTrust: Bool {
        switch question {
        case .password, .newPassword: acceptsTouch
        case .confirmation, .waiting: true
        }
    }

    /// The explanation, then the evidence; the message names the caller.
    var story: String {
        [description, callerDetails].filter { !$0.isEmpty }.joined(separator: "\n\n")
    }
}

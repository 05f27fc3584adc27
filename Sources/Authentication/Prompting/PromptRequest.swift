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
    }

    /// What kind of answer is wanted.
    package let question: Question

    /// The title of the window.
    package let title: String

    /// What it is about, in a few words, which stand out.
    package let message: String

    /// The name of the collection that it is about, for a prompter that has only words of its own.
    package let subject: String

    /// The whole story: who asks, for what, and why.
    package let description: String

    /// What went wrong the last time, such as a wrong password.
    package var warning: String {
        didSet { warning = PromptText.text(warning) }
    }

    /// On the button that answers.
    package let continueLabel: String

    /// On the button that dismisses.
    package let cancelLabel: String

    /// The window that the dialog belongs to, as the client gave it (spec point #116).
    package let windowID: String

    /// Creates a request.
    package init(
        question: Question,
        title: String = "",
        message: String,
        subject: String = "",
        description: String = "",
        warning: String = "",
        continueLabel: String = "",
        cancelLabel: String = "",
        windowID: String = ""
    ) {
        self.question = question
        self.title = PromptText.name(title)
        self.message = PromptText.text(message)
        self.subject = PromptText.name(subject)
        self.description = PromptText.text(description)
        self.warning = PromptText.text(warning)
        self.continueLabel = PromptText.name(continueLabel)
        self.cancelLabel = PromptText.name(cancelLabel)
        self.windowID = PromptText.name(windowID)
    }
}

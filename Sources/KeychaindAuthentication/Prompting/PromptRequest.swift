import KeychaindDesktop
package import KeychaindLanguage

/// A question to a person, with its texts.
///
/// ``PromptText`` cleans the translated texts, so that prompters show them unchanged. An empty text omits its part of
/// the dialog; an empty label stands for the prompter's default.
package struct PromptRequest: Hashable, Sendable {
    package enum Question: Hashable, Sendable {
        case password
        /// The dialog asks for the password twice, and shows its strength.
        case newPassword
        case confirmation
        /// The dialog waits for something else, such as a touch. The person can cancel, or choose ``fallbackLabel``.
        case waiting
    }

    /// The texts of a checkbox, or of the third button of a confirmation.
    ///
    /// A prompter without either shows nothing of it.
    package struct Choice<Words: Hashable & Sendable>: Hashable, Sendable {
        package let label: Words
        package let explanation: Words

        package init(label: Words, explanation: Words) {
            self.label = label
            self.explanation = explanation
        }
    }

    /// What a dialog shows of the reader that waits for a touch.
    package enum Touch: String, Hashable, Sendable {
        case none
        case waiting
        case unrecognised
        case recognised
        case locked

        /// Whether a touch can answer now.
        var isAwaited: Bool { self == .waiting || self == .unrecognised }
    }

    /// The maximum length of ``caller`` and ``callerDetails``, in characters.
    package static let callerLimit = 500

    package let question: Question

    /// The language of the dialog.
    package let language: Language

    package let title: String
    package let message: String

    /// The name of the collection, or what a person agrees to, for a prompter with fixed texts around it; empty for the
    /// message.
    package let subject: String

    package let description: String

    /// The name of the caller, for a prompter with fixed texts; empty for the daemon itself.
    package let caller: String

    /// The evidence of the caller's identity, in sentences; may be empty.
    package let callerDetails: String

    /// The same, marked as such among other texts.
    let markedDetails: String

    /// The previous mistake, or how to hold the finger.
    private(set) var mistake = ""

    /// The time before another password is accepted.
    package private(set) var delay = Duration.zero

    /// ``delay`` in a sentence, with ``rest`` in place of the time.
    private(set) var countdown = ""

    /// Stands for a time that a dialog counts down.
    static let rest = "\u{FFFC}"

    /// The mistake and the delay in sentences.
    package private(set) var warning = ""

    package let continueLabel: String

    package let cancelLabel: String

    /// The label of the fallback button of ``Question/waiting``; empty for none.
    package let fallbackLabel: String

    /// An offer beside the answer.
    package internal(set) var choice: Choice<String>?

    package let touch: Touch

    /// The parent window, as the client gave it (#116).
    package let windowID: String

    package init(
        question: Question,
        language: Language = .english,
        title: Text = .empty,
        message: Text,
        subject: String = "",
        description: Text = .empty,
        caller: Text = .empty,
        callerDetails: Text = .empty,
        warning: Text = .empty,
        continueLabel: Text = .empty,
        cancelLabel: Text = .empty,
        fallbackLabel: Text = .empty,
        choice: Choice<Text>? = nil,
        touch: Touch = .none,
        windowID: String = ""
    ) {
        self.question = question
        self.language = language
        func string(_ text: Text) -> String { language.string(text, isolating: true) }
        self.title = PromptText.line(string(title))
        self.message = PromptText.text(string(message))
        self.subject = PromptText.line(subject, limit: PromptText.textLimit)
        self.description = PromptText.text(string(description))
        self.caller = PromptText.line(string(caller), limit: PromptRequest.callerLimit)
        self.callerDetails = PromptText.line(string(callerDetails), limit: PromptRequest.callerLimit)
        let marked = callerDetails.isEmpty ? callerDetails : .joined([Text("Details:"), callerDetails])
        markedDetails = PromptText.line(string(marked), limit: PromptRequest.callerLimit)
        self.continueLabel = PromptText.line(string(continueLabel))
        self.cancelLabel = PromptText.line(string(cancelLabel))
        self.fallbackLabel = PromptText.line(string(fallbackLabel))
        self.choice = choice.map { choice in
            Choice(
                label: PromptText.line(string(choice.label)),
                explanation: PromptText.text(string(choice.explanation))
            )
        }
        self.touch = touch
        self.windowID = PromptText.line(windowID)
        warn(warning)
    }

    package var acceptsTouch: Bool { touch.isAwaited }

    /// Sets the previous mistake, or how to hold the finger.
    package mutating func warn(_ text: Text, delay: Duration = .zero) {
        // Translators: a time such as "one second" or "5 minutes"
        func wait(_ time: Text) -> Text { delay > .zero ? Text("Wait \(time) before the next.") : .empty }
        mistake = PromptText.text(string(text))
        self.delay = delay
        countdown = PromptText.text(string(wait(Text(verbatim: PromptRequest.rest))))
        warning = PromptText.text(string(.joined([text, wait(delay.words)])))
    }

    /// A text of the dialog that only its prompter has, in the language of the request.
    func string(_ text: Text) -> String {
        language.string(text, isolating: true)
    }

    /// Whether a touch or a click answers, so that a person must see the dialog.
    var needsTrust: Bool {
        switch question {
        case .password, .newPassword: acceptsTouch
        case .confirmation, .waiting: true
        }
    }
}

package import KeychaindLanguage
package import KeychaindModel

/// The dialog texts of an evaluation.
package struct EvaluationWords: Hashable, Sendable {
    package var language: Language

    /// The name of the passcode; dialogs avoid that word.
    private static let passcodeName = Text("the password of your login keychain")

    package var message: Text

    /// Where the request comes from and what it is about, beside the message; may be empty.
    package var circumstances: Text

    /// The reason in the program's words; may be empty.
    package var reason: Text

    package var caller: Text
    package var callerDetails: Text

    /// Empty for the default.
    package var cancelLabel: Text

    /// Nil for the default, empty for no fallback button.
    package var fallbackLabel: Text?

    /// All that a person agrees to, for a prompter that shows the message alone; empty if the message says it.
    package var summary = Text.empty

    /// An offer in a dialog for a password, if any.
    package var choice: PromptRequest.Choice<Text>?

    /// The parent window, as the client gave it (#116).
    package var windowID: String

    package init(
        language: Language = .english,
        message: Text,
        circumstances: Text = .empty,
        reason: Text = .empty,
        caller: Text = .empty,
        callerDetails: Text = .empty,
        cancelLabel: Text = .empty,
        fallbackLabel: Text? = nil,
        windowID: String = ""
    ) {
        self.language = language
        self.message = message
        self.circumstances = circumstances
        self.reason = reason
        self.caller = caller
        self.callerDetails = callerDetails
        self.cancelLabel = cancelLabel
        self.fallbackLabel = fallbackLabel
        self.windowID = windowID
    }

    package func request(for question: EvaluationQuestion) -> PromptRequest {
        let wantsPassword = !question.passwords.isEmpty
        var request = PromptRequest(
            question: wantsPassword ? .password : .waiting,
            language: language,
            title: Text("Authentication Required"),
            message: message,
            subject: language.string(summary, isolating: true),
            description: .joined([circumstances, reason, instruction(for: question)], by: Text(verbatim: "\n\n")),
            caller: caller,
            callerDetails: callerDetails,
            continueLabel: wantsPassword ? Text("Continue") : .empty,
            cancelLabel: cancelLabel.isEmpty ? Text("Cancel") : cancelLabel,
            fallbackLabel: wantsPassword ? .empty : fallbackLabel ?? Text("Enter Password"),
            choice: wantsPassword ? choice : nil,
            touch: question.touch,
            windowID: windowID
        )
        request.warn(question.warning, delay: question.delay)
        return request
    }

    private func instruction(for question: EvaluationQuestion) -> Text {
        guard let password = passwordName(question.passwords) else { return question.reader?.text ?? .empty }
        // Translators: the arguments name passwords, such as "the password of your login keychain"
        switch (question.reader, question.readerSuffices) {
        case (nil, _): return Text("Type \(password).")
        case (.swipe?, true): return Text("Swipe your finger across the fingerprint reader, or type \(password).")
        case (.swipe?, false): return Text("Swipe your finger across the fingerprint reader, and type \(password).")
        case (_?, true): return Text("Touch the fingerprint reader, or type \(password).")
        case (_?, false): return Text("Touch the fingerprint reader, and type \(password).")
        }
    }

    private func passwordName(_ passwords: FactorSet) -> Text? {
        let names = passwords.factors.compactMap { factor in
            switch factor {
            case .passcode: EvaluationWords.passcodeName
            case .applicationPassword: Text("the item’s own password")
            case .biometryAny, .biometryCurrentSet: nil
            }
        }
        // Translators: between the names of two passwords
        return names.isEmpty ? nil : .joined(names, by: Text(" or "))
    }
}

/// The passwords and touches that an evaluation asks for in its dialog.
package struct EvaluationQuestion: Hashable, Sendable {
    /// The passwords, any of which may be typed; empty to wait only for the reader.
    package var passwords: FactorSet

    /// The action that the reader asks for; nil if no touch is needed.
    package var reader: BiometryHint?

    /// Whether a touch is enough, without a password.
    package var readerSuffices: Bool

    package var warning: Text

    /// The time before another password is accepted.
    package var delay: Duration

    /// What became of the last touch.
    package var touch: PromptRequest.Touch

    /// Whether the warning only advises how to hold the finger, which closes no half-filled dialog.
    package var isAdvice: Bool

    package init(
        passwords: FactorSet,
        reader: BiometryHint?,
        readerSuffices: Bool = true,
        warning: Text = .empty,
        delay: Duration = .zero,
        touch: PromptRequest.Touch? = nil,
        isAdvice: Bool = false
    ) {
        self.passwords = passwords
        self.reader = reader
        self.readerSuffices = readerSuffices
        self.warning = warning
        self.delay = delay
        self.touch = touch ?? (reader == nil ? .none : .waiting)
        self.isAdvice = isAdvice
    }
}

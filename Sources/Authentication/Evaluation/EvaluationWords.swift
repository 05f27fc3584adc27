package import KeychainModel

/// The texts of the dialog of an evaluation.
package struct EvaluationWords: Hashable, Sendable {
    /// The default name of the passcode; dialogs do not use that word.
    package static let passcodeName = "the password of your login keychain"

    /// The headline, in a few words.
    package var message: String

    /// The reason, in the words of the program; may be empty.
    package var reason: String

    /// The caller, in words.
    package var caller: String

    /// How the caller was identified.
    package var callerEvidence: String

    /// The label of the button that cancels; empty for the default.
    package var cancelLabel: String

    /// The label of the fallback button; nil for the default, empty for no such button.
    package var fallbackLabel: String?

    /// The name of the password that is the passcode.
    package var passcodeName: String

    /// The parent window of the dialog, as the client gave it (#116).
    package var windowID: String

    /// Creates texts.
    package init(
        message: String,
        reason: String = "",
        caller: String = "",
        callerEvidence: String = "",
        cancelLabel: String = "",
        fallbackLabel: String? = nil,
        passcodeName: String = EvaluationWords.passcodeName,
        windowID: String = ""
    ) {
        self.message = message
        self.reason = reason
        self.caller = caller
        self.callerEvidence = callerEvidence
        self.cancelLabel = cancelLabel
        self.fallbackLabel = fallbackLabel
        self.passcodeName = passcodeName
        self.windowID = windowID
    }

    /// Makes the request for a question.
    package func request(for question: EvaluationQuestion) -> PromptRequest {
        let wantsPassword = !question.passwords.isEmpty
        return PromptRequest(
            question: wantsPassword ? .password : .waiting,
            title: "Authentication Required",
            message: message,
            description: [reason, instruction(for: question)].filter { !$0.isEmpty }.joined(separator: "\n\n"),
            caller: caller,
            callerEvidence: callerEvidence,
            warning: question.warning,
            continueLabel: wantsPassword ? "Continue" : "",
            cancelLabel: cancelLabel.isEmpty ? "Cancel" : cancelLabel,
            fallbackLabel: wantsPassword ? "" : fallbackLabel ?? "Enter Password",
            acceptsTouch: question.reader != nil,
            windowID: windowID
        )
    }

    private func instruction(for question: EvaluationQuestion) -> String {
        let password = passwordName(question.passwords)
        switch (question.reader, password) {
        case (nil, nil): return ""
        case (nil, let password?): return "Type \(password)."
        case (let hint?, nil): return hint.text
        case (let hint?, let password?):
            return "\(hint.text.dropLast()), \(question.readerSuffices ? "or" : "and") type \(password)."
        }
    }

    private func passwordName(_ passwords: FactorSet) -> String? {
        let names = passwords.factors.compactMap { factor in
            switch factor {
            case .passcode: passcodeName
            case .applicationPassword: "the item’s own password"
            case .biometryAny, .biometryCurrentSet: nil
            }
        }
        return names.isEmpty ? nil : names.joined(separator: " or ")
    }
}

/// The question of an evaluation at a moment.
package struct EvaluationQuestion: Hashable, Sendable {
    /// The passwords of which one may be typed; none to wait for the reader only.
    package var passwords: FactorSet

    /// The action that the reader asks for; nil if no touch is needed.
    package var reader: BiometryHint?

    /// Whether a touch is enough, so that the password is an alternative.
    package var readerSuffices: Bool

    /// The warning; empty for none.
    package var warning: String

    /// Whether the warning is only a hint for the finger, for which no dialog with a half-typed password is closed.
    package var isAdvice: Bool

    /// Creates a question.
    package init(
        passwords: FactorSet,
        reader: BiometryHint?,
        readerSuffices: Bool = true,
        warning: String = "",
        isAdvice: Bool = false
    ) {
        self.passwords = passwords
        self.reader = reader
        self.readerSuffices = readerSuffices
        self.warning = warning
        self.isAdvice = isAdvice
    }
}

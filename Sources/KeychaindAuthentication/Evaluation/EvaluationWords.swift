package import KeychaindModel

/// The dialog texts of an evaluation.
package struct EvaluationWords: Hashable, Sendable {
    /// The default name of the passcode; dialogs avoid that word.
    package static let passcodeName = "the password of your login keychain"

    package var message: String

    /// Where the request comes from and what it is about, beside the message; may be empty.
    package var circumstances: String

    /// The reason in the program's words; may be empty.
    package var reason: String

    package var caller: String
    package var callerDetails: String

    /// Empty for the default.
    package var cancelLabel: String

    /// Nil for the default, empty for no fallback button.
    package var fallbackLabel: String?

    package var passcodeName: String

    /// The parent window, as the client gave it (#116).
    package var windowID: String

    package init(
        message: String,
        circumstances: String = "",
        reason: String = "",
        caller: String = "",
        callerDetails: String = "",
        cancelLabel: String = "",
        fallbackLabel: String? = nil,
        passcodeName: String = EvaluationWords.passcodeName,
        windowID: String = ""
    ) {
        self.message = message
        self.circumstances = circumstances
        self.reason = reason
        self.caller = caller
        self.callerDetails = callerDetails
        self.cancelLabel = cancelLabel
        self.fallbackLabel = fallbackLabel
        self.passcodeName = passcodeName
        self.windowID = windowID
    }

    package func request(for question: EvaluationQuestion) -> PromptRequest {
        let wantsPassword = !question.passwords.isEmpty
        return PromptRequest(
            question: wantsPassword ? .password : .waiting,
            title: "Authentication Required",
            message: message,
            description: [circumstances, reason, instruction(for: question)].filter { !$0.isEmpty }
                .joined(separator: "\n\n"),
            caller: caller,
            callerDetails: callerDetails,
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

package struct EvaluationQuestion: Hashable, Sendable {
    /// The passwords, any of which may be typed; empty to wait only for the reader.
    package var passwords: FactorSet

    /// The action that the reader asks for; nil if no touch is needed.
    package var reader: BiometryHint?

    /// Whether a touch is enough, without a password.
    package var readerSuffices: Bool

    package var warning: String

    /// Whether the warning only advises how to hold the finger, which closes no half-filled dialog.
    package var isAdvice: Bool

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

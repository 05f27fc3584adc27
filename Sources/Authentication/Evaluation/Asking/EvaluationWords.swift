import KeychainModel

/// The words of an evaluation's dialog.
package struct EvaluationWords: Hashable, Sendable {
    /// What a passcode is called unless somebody knows better: nobody has ever been told of a "passcode" here.
    package static let passcodeName = "the password of your login keychain"

    /// What it is about, in a few words, which stand out.
    package var message: String

    /// Why, in the words of the program that asks; may be empty.
    package var reason: String

    /// Who asks, in words.
    package var caller: String

    /// What makes the daemon say so.
    package var callerEvidence: String

    /// On the button that cancels; empty for the usual text.
    package var cancelLabel: String

    /// On the button for another way than the reader; nil for the usual text, empty for no such button.
    package var fallbackLabel: String?

    /// Which password the passcode is: that of another collection, perhaps.
    package var passcodeName: String

    /// The window to show the dialog above, as the client gave it (#116).
    package var windowID: String

    /// Puts words together.
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

    /// The question in words.
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

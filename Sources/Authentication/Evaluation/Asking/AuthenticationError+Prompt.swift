extension AuthenticationError {
    /// What the failure of a prompter is for an evaluation.
    init(_ error: PromptError) {
        self.init(error.code == .unavailable ? .notInteractive : .systemCancel, reason: error.reason)
    }
}

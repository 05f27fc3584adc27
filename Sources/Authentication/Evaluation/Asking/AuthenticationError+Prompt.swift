extension AuthenticationError {
    /// What the failure of a prompter is for an evaluation.
    init(_ error: PromptError) {
        self.init(error.code == .unavailable ? .notInteractive : .systemCancel, reason: error.reason)
    }

    /// What it is for an evaluation that its talk was ended from outside.
    package init(_ withdrawal: Withdrawal) {
        switch withdrawal {
        case .byProgram: self.init(.appCancel, reason: "the program has withdrawn")
        case .bySystem(let reason): self.init(.systemCancel, reason: reason)
        }
    }
}

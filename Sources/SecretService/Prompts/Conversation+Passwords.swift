import Authentication
import Gcrypt

extension Conversation {
    /// Asks for the password of a collection; nil if the person will not give it.
    func askPassword(of label: String, again: Bool) async -> SecureBytes? {
        let label = PromptText.name(label)
        let request = PromptRequest(
            question: .password,
            title: "Unlock Keychain",
            message: "Unlock the keychain “\(label)”",
            subject: label,
            description: "A program wants to use the keychain “\(label)”, which is locked.",
            warning: again ? "That password was not right." : "",
            continueLabel: "Unlock",
            cancelLabel: "Cancel",
            windowID: windowID
        )
        return await password(request)
    }

    /// Asks for the first password of a collection, twice, and again while it is empty; nil if the person will not give one.
    func askNewPassword(for label: String) async -> SecureBytes? {
        let label = PromptText.name(label)
        var warning = ""
        while true {
            let request = PromptRequest(
                question: .newPassword,
                title: "New Keychain",
                message: "Choose a password for the keychain “\(label)”",
                subject: label,
                description:
                    "A program wants to keep secrets in the keychain “\(label)”. Whoever has its password can read them.",
                warning: warning,
                continueLabel: "Create",
                cancelLabel: "Cancel",
                windowID: windowID
            )
            guard let password = await password(request) else { return nil }
            if !password.isEmpty { return password }
            warning = "The password cannot be empty."
        }
    }

    private func password(_ request: PromptRequest) async -> SecureBytes? {
        switch await ask(request) {
        case .password(let password): password
        case .confirmed: nil
        case .dismissed: nil
        }
    }
}

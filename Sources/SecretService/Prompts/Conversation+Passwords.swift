import Authentication
import Desktop
import Gcrypt

extension Conversation {
    /// The request for the password of a collection.
    ///
    /// - Parameter purpose: what else the password opens, if anything.
    func passwordRequest(
        of label: String,
        for caller: Caller,
        _ purpose: AuthenticationPurpose? = nil
    ) -> PromptRequest {
        let label = PromptText.name(label)
        return PromptRequest(
            question: .password,
            title: "Unlock Keychain",
            message: purpose?.headline(unlocking: label) ?? "Unlock the keychain “\(label)”",
            // A prompter with words of its own would leave out what else is given.
            subject: purpose == nil ? label : "",
            description: ["The keychain “\(label)” is locked.", purpose?.reason ?? ""].filter { !$0.isEmpty }
                .joined(separator: "\n"),
            caller: caller.description,
            callerEvidence: caller.evidence.explanation,
            continueLabel: "Unlock",
            cancelLabel: "Cancel",
            windowID: windowID
        )
    }

    /// The request for a new password of a collection.
    func newPasswordRequest(
        of label: String,
        for caller: Caller,
        insteadOf reason: NewPasswordReason = .first
    ) -> PromptRequest {
        let label = PromptText.name(label)
        let words = reason.words(label)
        return PromptRequest(
            question: .newPassword,
            title: words.title,
            message: words.message,
            subject: label,
            description: words.description,
            caller: caller.description,
            callerEvidence: caller.evidence.explanation,
            continueLabel: words.continueLabel,
            cancelLabel: "Cancel",
            windowID: windowID
        )
    }

    /// The request for the application password of a new item.
    func applicationPasswordRequest(of label: String, for caller: Caller) -> PromptRequest {
        let label = PromptText.name(label)
        return PromptRequest(
            question: .newPassword,
            title: "New Password",
            message: "Choose a password for “\(label)”",
            description: "“\(label)” will be stored under a password of its own. Without it nobody can read it.",
            caller: caller.description,
            callerEvidence: caller.evidence.explanation,
            continueLabel: "Store",
            cancelLabel: "Cancel",
            windowID: windowID
        )
    }

    /// Asks whether a collection is to be deleted with what is in it.
    ///
    /// - Parameter protectedItems: how many of its items are protected.
    func confirmDeletion(of label: String, for caller: Caller, protectedItems: Int) async -> Bool {
        let label = PromptText.name(label)
        var description = "The keychain “\(label)” cannot be brought back."
        if protectedItems > 0 {
            description +=
                "\n\(protectedItems) of its items are protected and will be lost, too."
        }
        let request = PromptRequest(
            question: .confirmation,
            title: "Delete Keychain",
            message: "Delete the keychain “\(label)”?",
            description: description,
            caller: caller.description,
            callerEvidence: caller.evidence.explanation,
            continueLabel: "Delete",
            cancelLabel: "Cancel",
            windowID: windowID
        )
        guard let answer = try? await ask(request), case .confirmed = consume answer else { return false }
        return true
    }
}

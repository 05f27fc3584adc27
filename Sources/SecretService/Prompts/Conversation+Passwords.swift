import Authentication
import Desktop
import Gcrypt

extension Conversation {
    /// Asks for the password of a collection; nil if the person will not give it.
    ///
    /// - Parameter purpose: what else the password gives, if anything.
    func askPassword(
        of label: String,
        for caller: Caller,
        _ purpose: AuthenticationPurpose? = nil,
        warning: String
    ) async -> SecureBytes? {
        let label = PromptText.name(label)
        let request = PromptRequest(
            question: .password,
            title: "Unlock Keychain",
            message: purpose?.headline(unlocking: label) ?? "Unlock the keychain “\(label)”",
            // A prompter with words of its own would leave out what else is given.
            subject: purpose == nil ? label : "",
            description: ["The keychain “\(label)” is locked.", purpose?.reason ?? ""].filter { !$0.isEmpty }
                .joined(separator: "\n"),
            caller: caller.description,
            callerEvidence: caller.evidence.explanation,
            warning: warning,
            continueLabel: "Unlock",
            cancelLabel: "Cancel",
            windowID: windowID
        )
        return await password(request)
    }

    /// Asks for a new password of a collection, twice, and again while it is empty; nil if the person will not give one.
    func askNewPassword(
        of label: String,
        for caller: Caller,
        insteadOf reason: NewPasswordReason = .first
    ) async -> SecureBytes? {
        let label = PromptText.name(label)
        let words = reason.words(label)
        var warning = ""
        while true {
            let request = PromptRequest(
                question: .newPassword,
                title: words.title,
                message: words.message,
                subject: label,
                description: words.description,
                caller: caller.description,
                callerEvidence: caller.evidence.explanation,
                warning: warning,
                continueLabel: words.continueLabel,
                cancelLabel: "Cancel",
                windowID: windowID
            )
            guard let password = await password(request) else { return nil }
            if !password.isEmpty { return password }
            warning = "The password cannot be empty."
        }
    }

    /// Asks for the password that an item is to have of its own, twice, and again while it is empty; nil if the person will not
    /// give one.
    func askApplicationPassword(of label: String, for caller: Caller) async -> SecureBytes? {
        let label = PromptText.name(label)
        var warning = ""
        while true {
            let request = PromptRequest(
                question: .newPassword,
                title: "New Password",
                message: "Choose a password for “\(label)”",
                description: "“\(label)” will be stored under a password of its own. Without it nobody can read it.",
                caller: caller.description,
                callerEvidence: caller.evidence.explanation,
                warning: warning,
                continueLabel: "Store",
                cancelLabel: "Cancel",
                windowID: windowID
            )
            guard let password = await password(request) else { return nil }
            if !password.isEmpty { return password }
            warning = "The password cannot be empty."
        }
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

    /// Whatever keeps it from being answered – no prompter, one that crashes or stays silent, an end from outside – is as if the
    /// person had cancelled; the log says which.
    func password(_ request: PromptRequest) async -> SecureBytes? {
        guard let answer = try? await ask(request), case .password(let password) = consume answer else { return nil }
        return password
    }
}

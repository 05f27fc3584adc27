import KeychaindAuthentication
import KeychaindDesktop
import KeychaindGcrypt

/// The texts of the dialogs about keychains.
extension Conversation {
    /// The request for the password of a keychain.
    ///
    /// - Parameters:
    ///   - purpose: the other use of the password, if any.
    ///   - offer: how a security key can answer instead, if any.
    ///   - hostFailure: the reason why the key slot of this computer did not open the keychain, if that was tried.
    func passwordRequest(
        of label: String,
        for caller: Caller,
        _ purpose: AuthenticationPurpose? = nil,
        or offer: SecurityKeyOffer? = nil,
        hostFailure: String? = nil
    ) -> PromptRequest {
        let label = PromptText.name(label)
        let fact = hostFailure.map { "This computer did not open it: \(PromptText.name($0, limit: 300))." } ?? ""
        return request(
            .password,
            title: "Unlock Keychain",
            purpose?.headline(unlocking: label) ?? "\(caller.name.subject) wants to unlock the keychain “\(label)”",
            // With a subject, a prompter may show a text of its own, which does not mention the purpose.
            subject: purpose == nil ? label : "",
            [
                caller.circumstances, fact, purpose?.reason ?? "",
                "Type the password of the keychain, or its recovery key.", offer?.text ?? "",
            ],
            button: "Unlock",
            acceptsTouch: offer?.isTouch == true,
            for: caller
        )
    }

    /// The request for the password of `login` after a login with another password.
    ///
    /// - Parameters:
    ///   - purpose: the other use of the password, if any.
    ///   - offer: how a security key can answer instead, if any.
    func formerPasswordRequest(
        of label: String,
        for caller: Caller,
        _ purpose: AuthenticationPurpose? = nil,
        or offer: SecurityKeyOffer? = nil
    ) -> PromptRequest {
        let label = PromptText.name(label)
        let fact = "The password of the keychain “\(label)” is not the one that you logged in with"
        let whatToDo =
            """
            Enter the password of the keychain, perhaps the one that you had before, or its recovery key. Next, \
            you can set it to your login password.
            """
        return request(
            .password,
            title: "Unlock Keychain",
            purpose?.headline(unlocking: label) ?? fact,
            subject: purpose == nil ? label : "",
            (purpose.map { [caller.circumstances, fact + ".", $0.reason] } ?? [caller.introduction]) + [
                whatToDo, offer?.text ?? "",
            ],
            button: "Unlock",
            acceptsTouch: offer?.isTouch == true,
            for: caller
        )
    }

    /// The request for the password of the last login.
    func loginPasswordRequest(of label: String, for caller: Caller) -> PromptRequest {
        let label = PromptText.name(label)
        let explanation =
            """
            The keychain is unlocked. If your password has changed, the keychain can have the new one, so that it \
            opens when you log in. The old one will no longer work. If you cancel, nothing changes.
            """
        return request(
            .password,
            title: "Change Password",
            "Enter your login password to set it for the keychain “\(label)”",
            subject: label,
            [caller.introduction, explanation],
            button: "Change",
            for: caller
        )
    }

    /// The request for a new password of a keychain.
    func newPasswordRequest(
        of label: String,
        for caller: Caller,
        insteadOf reason: NewPasswordReason = .first
    ) -> PromptRequest {
        let label = PromptText.name(label)
        let words = reason.words(label)
        return request(
            .newPassword,
            title: words.title,
            words.message,
            subject: label,
            [caller.introduction, words.description],
            button: words.continueLabel,
            for: caller
        )
    }

    /// The request for the application password of a new item.
    func applicationPasswordRequest(of label: String, for caller: Caller) -> PromptRequest {
        let label = PromptText.name(label)
        return request(
            .newPassword,
            title: "New Password",
            "Choose a password for “\(label)”",
            [
                caller.introduction,
                "“\(label)” will be stored under a password of its own. Without it nobody can read it.",
            ],
            button: "Store",
            for: caller
        )
    }

    /// The request for the password or a recovery key of a keychain.
    func keyRequest(of label: String, for purpose: KeyPurpose, _ caller: Caller) -> PromptRequest {
        let label = PromptText.name(label)
        return request(
            .password,
            title: purpose.title.text,
            purpose.message(label),
            subject: label,
            [caller.introduction, purpose.consequence, "A recovery key works, too."],
            button: purpose.title.button,
            for: caller
        )
    }

    /// The request for the password or recovery key of a backup.
    func backupKeyRequest(_ headline: String, _ explanation: String, for caller: Caller) -> PromptRequest {
        request(
            .password,
            title: "Restore Keychain",
            headline,
            // With a subject, a prompter may show a text of its own, which does not mention what is replaced.
            [
                caller.introduction, explanation,
                "Enter the password that the keychain had then, or its recovery key.",
            ],
            button: "Restore",
            for: caller
        )
    }

    /// Asks a person to confirm the deletion of a keychain and its items.
    func confirmDeletion(of label: String, for caller: Caller, protectedItems: Int) async -> Bool {
        let label = PromptText.name(label)
        var explanation = [caller.introduction, "The keychain “\(label)” cannot be brought back."]
        if protectedItems > 0 {
            explanation.append("\(protectedItems) of its items are protected and will be lost, too.")
        }
        return await confirm(
            request(
                .confirmation,
                title: "Delete Keychain",
                "Delete the keychain “\(label)”?",
                explanation,
                button: "Delete",
                for: caller
            )
        )
    }

    /// Shows a recovery key, once; false unless the person confirms that it was written down.
    ///
    /// The key becomes a text in ordinary memory, and on the bus if the prompter is there. The caller has chosen that.
    func showRecoveryKey(_ key: borrowing SecureBytes, of label: String, for caller: Caller) async -> Bool {
        let label = PromptText.name(label)
        let text = key.withUnsafeBytes { bytes in String(decoding: bytes, as: UTF8.self) }
        let explanation =
            """
            This is the recovery key of the keychain “\(label)”. Write it down, and keep it where only you have access. \
            It opens the keychain when you have forgotten the password: type it instead. It is shown only this once.
            """
        return await confirm(
            request(
                .confirmation,
                title: "Recovery Key",
                text,
                [caller.introduction, explanation],
                button: "I Have Written It Down",
                for: caller
            )
        )
    }

    func request(
        _ question: PromptRequest.Question,
        title: String,
        _ message: String,
        subject: String = "",
        _ explanation: [String],
        button: String,
        fallback: String = "",
        acceptsTouch: Bool = false,
        for caller: Caller
    ) -> PromptRequest {
        PromptRequest(
            question: question,
            title: title,
            message: message,
            subject: subject,
            description: explanation.filter { !$0.isEmpty }.joined(separator: "\n"),
            caller: caller.fullName,
            callerDetails: caller.details,
            continueLabel: button,
            cancelLabel: "Cancel",
            fallbackLabel: fallback,
            acceptsTouch: acceptsTouch,
            windowID: windowID
        )
    }

    private func confirm(_ request: PromptRequest) async -> Bool {
        guard let answer = try? await ask(request), case .confirmed = consume answer else { return false }
        return true
    }
}

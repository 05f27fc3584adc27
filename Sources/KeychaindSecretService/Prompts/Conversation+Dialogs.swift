import KeychaindAuthentication
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindLanguage

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
        let fact = hostFailure.map { reason in
            Text("This computer did not open it: \(PromptText.name(reason, limit: 300)).")
        }
        return request(
            .password,
            title: Text("Unlock Keychain"),
            purpose?.headline(unlocking: label)
                ?? Text("\(caller.name.subject) wants to unlock the keychain “\(label)”"),
            // With a subject, a prompter may show a text of its own, which does not mention the purpose.
            subject: purpose == nil ? label : "",
            [
                caller.circumstances, fact ?? .empty, purpose?.reason ?? .empty,
                Text("Type the password of the keychain, or its recovery key."), offer?.text ?? .empty,
            ],
            button: Text("Unlock"),
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
        let fact = Text("The password of the keychain “\(label)” is not the one that you logged in with")
        let whatToDo = Text(
            """
            Enter the password of the keychain, perhaps the one that you had before, or its recovery key. Next, \
            you can set it to your login password.
            """
        )
        return request(
            .password,
            title: Text("Unlock Keychain"),
            purpose?.headline(unlocking: label) ?? fact,
            subject: purpose == nil ? label : "",
            (purpose.map { [caller.circumstances, Text("\(fact)."), $0.reason] } ?? [caller.introduction]) + [
                whatToDo, offer?.text ?? .empty,
            ],
            button: Text("Unlock"),
            acceptsTouch: offer?.isTouch == true,
            for: caller
        )
    }

    /// The request for the password of the last login.
    func loginPasswordRequest(of label: String, for caller: Caller) -> PromptRequest {
        let label = PromptText.name(label)
        let explanation = Text(
            """
            The keychain is unlocked. If your password has changed, the keychain can have the new one, so that it \
            opens when you log in. The old one will no longer work. If you cancel, nothing changes.
            """
        )
        return request(
            .password,
            title: Text("Change Password"),
            Text("Enter your login password to set it for the keychain “\(label)”"),
            [caller.introduction, explanation],
            button: Text("Change"),
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
            subject: reason.isFirst ? label : "",
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
            title: Text("New Password"),
            Text("Choose a password for “\(label)”"),
            [
                caller.introduction,
                Text("“\(label)” will be stored under a password of its own. Without it nobody can read it."),
            ],
            button: Text("Store"),
            for: caller
        )
    }

    /// The request for the password or a recovery key of a keychain.
    func keyRequest(of label: String, for reason: KeyRequestReason, _ caller: Caller) -> PromptRequest {
        let label = PromptText.name(label)
        return request(
            .password,
            title: reason.title.text,
            reason.message(label),
            // With a subject, a prompter may show that it unlocks the keychain, and nothing of a deletion.
            [caller.introduction, reason.consequence, Text("A recovery key works, too.")],
            button: reason.title.button,
            for: caller
        )
    }

    /// The request for the password or recovery key of a backup.
    func backupKeyRequest(_ headline: Text, _ explanation: Text, for caller: Caller) -> PromptRequest {
        request(
            .password,
            title: Text("Restore Keychain"),
            headline,
            // With a subject, a prompter may show a text of its own, which does not mention what is replaced.
            [
                caller.introduction, explanation,
                Text("Enter the password that the keychain had then, or its recovery key."),
            ],
            button: Text("Restore"),
            for: caller
        )
    }

    /// Asks a person to confirm the deletion of a keychain and its items.
    func confirmDeletion(of label: String, for caller: Caller, protectedItems: Int) async -> Bool {
        let label = PromptText.name(label)
        var explanation = [caller.introduction, Text("The keychain “\(label)” cannot be brought back.")]
        if protectedItems > 0 {
            explanation.append(
                Text(
                    protectedItems,
                    one: "\(protectedItems) of its items is protected and will be lost, too.",
                    other: "\(protectedItems) of its items are protected and will be lost, too."
                )
            )
        }
        return await confirm(
            request(
                .confirmation,
                title: Text("Delete Keychain"),
                Text("Delete the keychain “\(label)”?"),
                explanation,
                button: Text("Delete"),
                for: caller
            )
        )
    }

    /// Asks a person to confirm the deletion of a keychain whose file is missing.
    func confirmForgetting(_ label: String, for caller: Caller) async -> Bool {
        let label = PromptText.name(label)
        return await confirm(
            request(
                .confirmation,
                title: Text("Delete Keychain"),
                Text("Delete the keychain “\(label)”?"),
                [
                    caller.introduction,
                    Text("Its file is missing. Its past states are kept: one of them can be restored instead."),
                ],
                button: Text("Delete"),
                for: caller
            )
        )
    }

    /// Asks a person to take what is intact out of a damaged keychain.
    func confirmSalvage(of label: String, for caller: Caller) async -> Bool {
        let label = PromptText.name(label)
        return await confirm(
            request(
                .confirmation,
                title: Text("Repair Keychain"),
                Text("Make a new file from what is intact in the keychain “\(label)”?"),
                [
                    caller.introduction, Text("The damaged file is kept beside the new one."),
                ],
                button: Text("Repair"),
                for: caller
            )
        )
    }

    /// Asks a person to limit a sandboxed program to its own items.
    ///
    /// - Parameter items: the labels of those that it gets.
    func confirmSandbox(_ program: String, items: [String], for caller: Caller) async -> Bool {
        let name = PromptText.name(String(program.drop { $0 != ":" }.dropFirst()))
        var explanation = [
            caller.introduction,
            Text("It will see what it stores, and nothing else of your keychains."),
        ]
        if !items.isEmpty {
            // Translators: the labels of items
            explanation.append(Text("It keeps: \(ItemNames.summary(items))"))
        }
        return await confirm(
            request(
                .confirmation,
                title: Text("Limit Application"),
                Text("Limit “\(name)” to its own items?"),
                explanation,
                button: Text("Limit"),
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
        let explanation = Text(
            """
            This is the recovery key of the keychain “\(label)”. Write it down, and keep it where only you have \
            access. It opens the keychain when you have forgotten the password: type it instead. It is shown only \
            this once.
            """
        )
        return await confirm(
            request(
                .confirmation,
                title: Text("Recovery Key"),
                Text(verbatim: text),
                [caller.introduction, explanation],
                button: Text("I Have Written It Down"),
                for: caller
            )
        )
    }

    func request(
        _ question: PromptRequest.Question,
        title: Text,
        _ message: Text,
        subject: String = "",
        _ explanation: [Text],
        button: Text,
        fallback: Text = .empty,
        choice: PromptRequest.Choice<Text>? = nil,
        acceptsTouch: Bool = false,
        for caller: Caller
    ) -> PromptRequest {
        PromptRequest(
            question: question,
            language: caller.language,
            title: title,
            message: message,
            subject: subject,
            description: .lines(explanation),
            caller: caller.fullName,
            callerDetails: caller.details,
            continueLabel: button,
            cancelLabel: Text("Cancel"),
            fallbackLabel: fallback,
            choice: choice,
            acceptsTouch: acceptsTouch,
            windowID: windowID
        )
    }

    private func confirm(_ request: PromptRequest) async -> Bool {
        guard let answer = try? await ask(request), case .confirmed = consume answer else { return false }
        return true
    }
}

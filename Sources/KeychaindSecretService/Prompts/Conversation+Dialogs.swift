import KeychaindAuthentication
import KeychaindDesktop
import KeychaindLanguage

/// The requests for the passwords of keychains.
extension Conversation {
    /// The request for the password of a keychain.
    ///
    /// - Parameters:
    ///   - purpose: the other use of the password, if any.
    ///   - offer: how a security key can answer instead, if any.
    ///   - choice: an offer beside the password, if any.
    ///   - hostFailure: the reason why the key slot of this computer did not open the keychain, if that was tried.
    func passwordRequest(
        of label: String,
        for caller: Caller,
        _ purpose: AuthenticationPurpose? = nil,
        or offer: SecurityKeyOffer? = nil,
        offering choice: PromptRequest.Choice<Text>? = nil,
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
            choice: choice,
            touch: offer?.isTouch == true ? .waiting : .none,
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
            touch: offer?.isTouch == true ? .waiting : .none,
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
            [
                caller.introduction, reason.consequence,
                Text("Type the password of the keychain, or its recovery key."),
            ],
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

    func request(
        _ question: PromptRequest.Question,
        title: Text,
        _ message: Text,
        subject: String = "",
        _ explanation: [Text],
        button: Text,
        fallback: Text = .empty,
        choice: PromptRequest.Choice<Text>? = nil,
        touch: PromptRequest.Touch = .none,
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
            touch: touch,
            windowID: windowID
        )
    }
}

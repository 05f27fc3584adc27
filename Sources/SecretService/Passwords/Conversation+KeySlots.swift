import Authentication
import Desktop
import Gcrypt

extension Conversation {
    /// The request for the password or a recovery key of a keychain.
    func keyRequest(of label: String, for purpose: KeyPurpose, _ caller: Caller) -> PromptRequest {
        let label = PromptText.name(label)
        return PromptRequest(
            question: .password,
            title: purpose.title.text,
            message: purpose.message(label),
            subject: label,
            description: "\(purpose.consequence)\nA recovery key works, too.",
            caller: caller.description,
            callerEvidence: caller.evidence.explanation,
            continueLabel: purpose.title.button,
            cancelLabel: "Cancel",
            windowID: windowID
        )
    }

    /// The request for the password of `login` after a login with another password.
    ///
    /// - Parameter purpose: what else the password opens, if anything.
    func formerPasswordRequest(
        of label: String,
        for caller: Caller,
        _ purpose: AuthenticationPurpose? = nil
    ) -> PromptRequest {
        let label = PromptText.name(label)
        let fact = "The password of the keychain “\(label)” is not the one that you logged in with"
        let whatToDo =
            """
            Enter the password of the keychain, perhaps the one that you had before, or its recovery key. Next, \
            you can set it to your login password.
            """
        let facts = purpose.map { [fact + ".", $0.reason] } ?? []
        return PromptRequest(
            question: .password,
            title: "Unlock Keychain",
            message: purpose?.headline(unlocking: label) ?? fact,
            subject: purpose == nil ? label : "",
            description: (facts + [whatToDo]).filter { !$0.isEmpty }.joined(separator: "\n"),
            caller: caller.description,
            callerEvidence: caller.evidence.explanation,
            continueLabel: "Unlock",
            cancelLabel: "Cancel",
            windowID: windowID
        )
    }

    /// The request for the password of the last login.
    func loginPasswordRequest(of label: String, for caller: Caller) -> PromptRequest {
        let label = PromptText.name(label)
        return PromptRequest(
            question: .password,
            title: "Change Password",
            message: "Enter your login password to set it for the keychain “\(label)”",
            subject: label,
            description:
                """
                The keychain is unlocked. If your password has changed, the keychain can have the new one, so that it \
                opens when you log in. The old one will no longer work. If you cancel, nothing changes.
                """,
            caller: caller.description,
            callerEvidence: caller.evidence.explanation,
            continueLabel: "Change",
            cancelLabel: "Cancel",
            windowID: windowID
        )
    }

    /// Shows a recovery key, once; false unless the person says that it was written down.
    ///
    /// The key is among the words of a dialog here, and so in a text and on the bus, which the caller has chosen.
    func showRecoveryKey(_ key: borrowing SecureBytes, of label: String, for caller: Caller) async -> Bool {
        let label = PromptText.name(label)
        let text = key.withUnsafeBytes { bytes in String(decoding: bytes, as: UTF8.self) }
        let request = PromptRequest(
            question: .confirmation,
            title: "Recovery Key",
            message: text,
            description:
                """
                This is the recovery key of the keychain “\(label)”. Write it down, and keep it where only you have access. It opens \
                the keychain when you have forgotten the password: type it instead. It is shown only this once.
                """,
            caller: caller.description,
            callerEvidence: caller.evidence.explanation,
            continueLabel: "I Have Written It Down",
            cancelLabel: "Cancel",
            windowID: windowID
        )
        guard let answer = try? await ask(request), case .confirmed = consume answer else { return false }
        return true
    }
}

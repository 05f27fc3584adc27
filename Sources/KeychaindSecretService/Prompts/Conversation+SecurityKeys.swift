import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage

/// How a security key can answer the dialog for a password.
enum SecurityKeyOffer: Hashable, Sendable {
    case touch
    /// An empty password asks for the PIN.
    case pin
    case touchOrPIN

    var isTouch: Bool { self != .pin }

    var text: Text {
        switch self {
        case .touch: Text("You can touch your security key instead.")
        case .pin: Text("To use your security key and its PIN instead, leave the password empty.")
        case .touchOrPIN:
            Text("You can touch your security key instead. For a security key with a PIN, leave the password empty.")
        }
    }
}

/// The texts of the dialogs about security keys.
extension Conversation {
    /// The request for the PIN of a security key.
    func securityKeyPINRequest(of label: String, for caller: Caller, warning: Text) -> PromptRequest {
        let label = PromptText.name(label)
        var request = request(
            .password,
            title: Text("Security Key"),
            Text("Type the PIN of the security key for the keychain “\(label)”"),
            [caller.introduction, Text("Then touch the security key when it blinks.")],
            button: Text("Continue"),
            for: caller
        )
        request.warn(warning)
        return request
    }

    /// The request to touch a security key, while it is asked.
    func securityKeyTouchRequest(of label: String, for caller: Caller) -> PromptRequest {
        let label = PromptText.name(label)
        return request(
            .waiting,
            title: Text("Security Key"),
            Text("Touch the security key to open the keychain “\(label)”"),
            [caller.introduction],
            button: .empty,
            fallback: Text("Use Password"),
            for: caller
        )
    }

    /// The request to touch a new security key, while it is asked.
    func newSecurityKeyRequest(of label: String, for caller: Caller) -> PromptRequest {
        let label = PromptText.name(label)
        return request(
            .waiting,
            title: Text("Security Key"),
            Text("Touch the new security key of the keychain “\(label)”"),
            [caller.introduction, Text("It asks twice: touch it each time it blinks.")],
            button: .empty,
            for: caller
        )
    }

    /// Shows a dialog while a security key is asked; cancelling it cancels the operation.
    ///
    /// Without a trusted dialog the key is asked all the same: its PIN or the keychain's password was typed before.
    func wait(for operation: any SecurityKeyOperation, showing request: PromptRequest) async -> SecurityKeyOutcome {
        let result = Promise<SecurityKeyOutcome>()
        whenCancelled { _ in operation.cancel() }
        defer { whenCancelled(nil) }
        BusActor.start { [self] in
            result.fulfill(await operation.outcome())
            withdraw()
        }
        // A wrong PIN is refused at once.
        if let outcome = await result.value(within: .milliseconds(400)) { return outcome }
        do throws(PromptError) {
            if case .withdrawn = try await ask(request) {} else { operation.cancel() }
        } catch {
            if error.code != .notTrusted { operation.cancel() }
        }
        return await result.value()
    }
}

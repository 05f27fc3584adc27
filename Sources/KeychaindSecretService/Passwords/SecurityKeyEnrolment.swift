import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindLanguage
import KeychaindModel
import KeychaindVault

/// Makes a credential of the security key that is plugged in, for a new key slot.
@BusActor
struct SecurityKeyEnrolment {
    enum Outcome: ~Copyable {
        case made(SecurityKeyCredential, secret: SecureBytes)
        case cancelled
        case failed(SecurityKeyFailure)
    }

    private let collection: Collection
    private let needsPIN: Bool
    private let keys: any SecurityKeys
    private let conversation: Conversation
    private let caller: Caller

    /// - Parameter needsPIN: whether the key slot needs the PIN of the key.
    init(
        of collection: Collection,
        needsPIN: Bool,
        with keys: any SecurityKeys,
        asking conversation: Conversation,
        for caller: Caller
    ) {
        self.collection = collection
        self.needsPIN = needsPIN
        self.keys = keys
        self.conversation = conversation
        self.caller = caller
    }

    func run() async -> Outcome {
        let hasPIN: Bool
        let look = keys.start(.look, pin: nil) { _ in }
        conversation.whenCancelled { _ in look.cancel() }
        let found = await look.outcome()
        conversation.whenCancelled(nil)
        switch found {
        case .found(let pin): hasPIN = pin
        case .failed(.cancelled): return .cancelled
        case .failed(let failure): return .failed(failure)
        case .made, .opened: return .failed(.failed)
        }
        if needsPIN, !hasPIN { return .failed(.pinNotSet) }
        var warning = Text.empty
        while !conversation.isEnded {
            var pin: SecureBytes?
            // A key with a PIN wants it for a new credential, even for one that does not need it.
            if hasPIN {
                let request = conversation.securityKeyPINRequest(of: collection.label, for: caller, warning: warning)
                guard let typed = await conversation.password(request) else { return .cancelled }
                pin = consume typed
            }
            guard let salt = try? RandomBytes.nonce(SecurityKeyCredential.saltSize) else { return .failed(.failed) }
            let request = SecurityKeyRequest.make(salt: salt, needsPIN: needsPIN, known: collection.securityKeys)
            let operation = keys.start(request, pin: pin) { _ in }
            let touch = conversation.newSecurityKeyRequest(of: collection.label, for: caller)
            switch await conversation.wait(for: operation, showing: touch) {
            case .made(let credential):
                // The prompt may have been dismissed meanwhile.
                guard !conversation.isEnded else { return .cancelled }
                guard let secret = operation.takeSecret() else { return .failed(.failed) }
                return .made(credential, secret: secret)
            case .failed(.wrongPIN(let tries)) where tries != 0:
                warning = SecurityKeyFailure.wrongPIN(tries: tries).text
            case .failed(.cancelled):
                return .cancelled
            case .failed(let failure):
                return .failed(failure)
            case .found, .opened:
                return .failed(.failed)
            }
        }
        return .cancelled
    }
}

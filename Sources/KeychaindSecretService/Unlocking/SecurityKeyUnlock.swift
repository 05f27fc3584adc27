import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindLanguage
import KeychaindModel
import KeychaindVault
import Logging

/// Unlocks a collection by a security key, beside the dialog for its password.
///
/// A key without a PIN is asked while a trusted dialog is on the screen, one with a PIN after an empty password.
@BusActor
final class SecurityKeyUnlock: PasswordAlternative {
    private enum State {
        case idle
        case asking(any SecurityKeyOperation, Promise<Void>)
        case done
    }

    private enum Outcome {
        case unlocked
        /// The collection was locked meanwhile.
        case overtaken
        case failed(SecurityKeyFailure)
    }

    /// Knows the collection that is there now.
    private let password: CollectionPassword
    private let conversation: Conversation
    private let client: Client
    private let caller: Caller
    private let unlocker: Unlocker
    private var request: PromptRequest?
    private var isTrusted = true
    private var state = State.idle

    /// A key that fails so often is not asked again before the next dialog.
    private static let touches = 5

    private var collection: Collection { password.collection }
    private var touched: [SecurityKeyCredential] { collection.securityKeys.filter { !$0.needsPIN } }
    private var withPIN: [SecurityKeyCredential] { collection.securityKeys.filter(\.needsPIN) }

    /// Nil if no security key opens the collection.
    init?(
        beside password: CollectionPassword,
        asking conversation: Conversation,
        for client: Client,
        _ caller: Caller,
        unlocker: Unlocker
    ) {
        guard !password.collection.securityKeys.isEmpty else { return nil }
        self.password = password
        self.conversation = conversation
        self.client = client
        self.caller = caller
        self.unlocker = unlocker
    }

    /// How the key can answer the next dialog; nil if it cannot.
    var offer: SecurityKeyOffer? {
        switch (isTrusted && !touched.isEmpty, !withPIN.isEmpty) {
        case (true, true): .touchOrPIN
        case (true, false): .touch
        case (false, true): .pin
        case (false, false): nil
        }
    }

    // MARK: By a touch

    func begin(with request: PromptRequest) {
        self.request = request
        guard case .idle = state, request.acceptsTouch else { return }
        ask(ending: Promise(), touches: Self.touches)
    }

    /// Waits for a touch, and for another one after each that fails.
    private func ask(ending end: Promise<Void>, touches: Int) {
        let operation = unlocker.securityKeys.start(.open(touched, waits: true), pin: nil) { [weak self] failure in
            self?.advise(failure)
        }
        state = .asking(operation, end)
        BusActor.start { [self] in
            let mayBeTouchedAgain = await finish(operation, await operation.outcome())
            if mayBeTouchedAgain, touches > 1, request != nil, !touched.isEmpty {
                ask(ending: end, touches: touches - 1)
            } else {
                end.fulfill()
            }
        }
    }

    func end() async -> Bool {
        request = nil
        if case .asking(let operation, let end) = state {
            operation.cancel()
            // The key may have been touched just now.
            await end.value()
        }
        if case .done = state { return true }
        state = .idle
        return false
    }

    func distrust() {
        isTrusted = false
    }

    /// Unlocks the collection with what the key has given; whether a further touch may succeed instead.
    private func finish(_ operation: any SecurityKeyOperation, _ outcome: SecurityKeyOutcome) async -> Bool {
        let begun = unlocker.vault.unlockStart
        switch outcome {
        case .opened:
            // Another program may be behind the dialog by now, or it is just shown anew, or has been answered.
            guard request != nil, await conversation.trust() == .trusted, request != nil else { return true }
            switch await unlock(with: operation.takeSecret(), begun) {
            case .failed(let failure):
                advise(failure)
                return true
            case .unlocked, .overtaken:
                state = .done
                conversation.withdraw()
                return false
            }
        case .failed(let failure):
            advise(failure)
            return failure == .failed
        case .found, .made:
            return false
        }
    }

    /// Shows a failure in the dialog, unless it only says that no key was there or touched.
    private func advise(_ failure: SecurityKeyFailure) {
        guard var request, ![.noKey, .notTouched, .cancelled].contains(failure) else { return }
        request.warn(failure.text)
        conversation.revise(request)
    }

    private func unlock(with secret: consuming SecureBytes?, _ begun: LockMoment) async -> Outcome {
        guard let secret else { return .failed(.failed) }
        await password.follow()
        do throws(VaultError) {
            try await unlocker.unlock(collection, bySecurityKey: secret, begun: begun, for: client)
            return .unlocked
        } catch {
            unlocker.logger.warning(
                "A security key did not unlock a keychain",
                metadata: ["keychain": "\(collection.name)", "reason": "\(error.reason)"]
            )
            switch error.code {
            // After the touch, another object may have taken its place.
            case .locked: return await password.follow() ? .failed(.failed) : .overtaken
            case .wrongPassword, .noSuchKeySlot: return .failed(.unknownKey)
            default: return .failed(.failed)
            }
        }
    }

    // MARK: By a PIN

    func choose() async -> AlternativeChoice {
        guard !withPIN.isEmpty else {
            return .again(warning: isTrusted ? .empty : Text("This dialog takes only the password."))
        }
        var warning = Text.empty
        while true {
            let request = conversation.securityKeyPINRequest(of: collection.label, for: caller, warning: warning)
            guard let pin = await conversation.password(request) else { return .cancelled }
            if pin.isEmpty { return .again(warning: .empty) }
            let operation = unlocker.securityKeys.start(.open(withPIN, waits: false), pin: pin) { _ in }
            let begun = unlocker.vault.unlockStart
            let touch = conversation.securityKeyTouchRequest(of: collection.label, for: caller)
            switch await conversation.wait(for: operation, showing: touch) {
            case .opened:
                guard !conversation.isEnded else { return .cancelled }
                switch await unlock(with: operation.takeSecret(), begun) {
                case .unlocked: return .done
                case .overtaken: return .cancelled
                case .failed(let failure): return .again(warning: failure.text)
                }
            case .failed(.wrongPIN(let tries)) where tries != 0:
                warning = SecurityKeyFailure.wrongPIN(tries: tries).text
            case .failed(let failure):
                if conversation.isEnded { return .cancelled }
                return .again(warning: failure == .cancelled ? .empty : failure.text)
            case .found, .made:
                return .again(warning: SecurityKeyFailure.failed.text)
            }
        }
    }
}

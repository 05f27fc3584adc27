public import Foundation
import SecretServiceClient
public import Security

/// The maximum of ``LAContext/touchIDAuthenticationAllowableReuseDuration``, in seconds.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300

/// An authentication of the person at the machine, by finger or password.
///
/// keychaind asks the person and decides; this object may be used from any thread. An authentication is valid for items
/// read with the same context for at most five minutes, until the screen is locked.
open class LAContext: NSObject, @unchecked Sendable {
    // Sendable because this is its only stored property; the superclass does not declare it.
    let state = ContextState()

    /// Creates a context without an authentication.
    public override init() {}

    // MARK: Appearance

    /// The reason that the dialog shows when items are read, and for an evaluation without one.
    open var localizedReason: String {
        get { state.settings.reason }
        set { state.change { $0.reason = newValue } }
    }

    /// The title of the cancel button; nil for the default.
    open var localizedCancelTitle: String? {
        get { state.settings.cancelTitle }
        set { state.change { $0.cancelTitle = newValue } }
    }

    /// The title of the button for an alternative to a finger; nil for the default, empty for no button.
    open var localizedFallbackTitle: String? {
        get { state.settings.fallbackTitle }
        set { state.change { $0.fallbackTitle = newValue } }
    }

    // MARK: Behaviour

    /// The age in seconds up to which an authentication of this program in another context serves in this one, too;
    /// initially 0.
    ///
    /// Does not limit the authentication of this context itself.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { state.settings.reuseDuration }
        set { state.change { $0.reuseDuration = newValue } }
    }

    /// Whether asking a person is forbidden; operations that need it fail with ``LAError/Code/notInteractive``.
    open var interactionNotAllowed: Bool {
        get { state.settings.interactionNotAllowed }
        set { state.change { $0.interactionNotAllowed = newValue } }
    }

    /// Ends the context: a running evaluation fails with ``LAError/Code/appCancel``, all later ones with
    /// ``LAError/Code/invalidContext``.
    open func invalidate() {
        state.invalidate()
    }

    // MARK: Availability

    /// The biometry of this machine; `none` before a policy was checked.
    open var biometryType: LABiometryType { state.biometryType }

    /// Whether a policy can be satisfied now; does not ask the person, and may change at any time.
    ///
    /// - Parameters:
    ///   - policy: the policy.
    ///   - error: receives the reason if it cannot.
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        guard let obstacle = obstacle(to: policy) else { return true }
        error?.pointee = obstacle
        return false
    }

    /// The state of the enrolled fingers, read from the provider each time.
    open var domainState: LADomainState { currentDomainState }

    /// The hash in ``domainState``; nil before a policy was checked or evaluated.
    open var evaluatedPolicyDomainState: Data? {
        state.wasChecked ? domainState.biometry.stateHash : nil
    }

    // MARK: Evaluating

    /// Asks the person to authenticate for a policy.
    ///
    /// - Parameters:
    ///   - policy: the policy.
    ///   - localizedReason: the reason that the dialog shows. If it is empty and ``localizedReason`` is, too, the
    ///     evaluation fails with `NSError` of `LAErrorDomain`; Apple's framework raises an exception.
    ///   - reply: receives success or an error; called on a thread of its own, never the main thread.
    open func evaluatePolicy(
        _ policy: LAPolicy,
        localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        guard let name = policy.name else {
            let error = LAError.object(.companionNotAvailable, "there are no paired devices")
            return Background.run { reply(false, error) }
        }
        evaluate(name, policy, localizedReason, reply)
    }

    /// Asks the person to authenticate for a policy; throws unless the policy was satisfied.
    ///
    /// - Parameters:
    ///   - policy: the policy.
    ///   - localizedReason: the reason that the dialog shows. If it is empty and ``localizedReason`` is, too, the
    ///     evaluation fails with `NSError` of `LAErrorDomain`; Apple's framework raises an exception.
    /// - Returns: true.
    @discardableResult
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        try await LAContext.reply { evaluatePolicy(policy, localizedReason: localizedReason, reply: $0) }
    }

    /// Asks the person to authenticate for an access control, so that items with it can be read in this context.
    ///
    /// - Parameters:
    ///   - accessControl: the access control.
    ///   - operation: the operation; adding needs no authentication.
    ///   - localizedReason: the reason that the dialog shows. If it is empty and ``localizedReason`` is, too, the
    ///     evaluation fails with `NSError` of `LAErrorDomain`; Apple's framework raises an exception.
    ///   - reply: receives success or an error; called on a thread of its own, never the main thread.
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl,
        operation: LAAccessControlOperation,
        localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        guard operation.needsAuthentication, accessControl.needsAuthentication,
            let expression = accessControl.constraints
        else {
            Background.run { reply(true, nil) }
            return
        }
        evaluate(expression, LAAuthenticationRequirement(expression).policy, localizedReason, reply)
    }

    /// Asks the person to authenticate for an access control; throws unless it was satisfied.
    ///
    /// - Returns: true.
    @discardableResult
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl,
        operation: LAAccessControlOperation,
        localizedReason: String
    ) async throws -> Bool {
        try await LAContext.reply {
            evaluateAccessControl(accessControl, operation: operation, localizedReason: localizedReason, reply: $0)
        }
    }

    // MARK: Credentials

    /// Supplies the application password of items that are read or added in this context; no dialog asks for it then.
    ///
    /// A wrong password counts as an attempt, and fails the call with `errSecAuthFailed`.
    ///
    /// - Parameters:
    ///   - credential: the password, up to 1024 bytes; nil to ask the person. The context overwrites its copy.
    ///   - type: ``LACredentialType/applicationPassword``.
    /// - Returns: whether it is kept; false for a smart card, a longer password, and an ended context.
    @discardableResult
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        guard type == .applicationPassword, credential?.count ?? 1 <= 1024, state.isUsable else { return false }
        guard let credential, !credential.isEmpty else {
            state.setCredential(nil)
            return true
        }
        guard let secret = try? SharedSecret(copying: credential) else { return false }
        state.setCredential(secret)
        return true
    }

    /// Whether a credential was supplied.
    open func isCredentialSet(_ type: LACredentialType) -> Bool {
        type == .applicationPassword && state.hasCredential
    }
}

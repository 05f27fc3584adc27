public import Foundation
import SecretServiceClient
public import Security

/// The longest time that ``LAContext/touchIDAuthenticationAllowableReuseDuration`` can be, in seconds.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300

/// An authentication of the person at the machine, by finger or password.
///
/// It is keychaind that asks and decides; this object is how a program talks to it, and may be used from any thread. What was proved in
/// a context serves for items that are read with it for five minutes at the most, and until the screen is locked.
open class LAContext: NSObject, @unchecked Sendable {
    // All that is stored, and for any thread to use: so the class is Sendable, though its superclass does not say so.
    let state = ContextState()

    /// A context in which nothing is proved.
    public override init() {}

    // MARK: How it looks

    /// Why items are read, shown in the dialog.
    open var localizedReason: String {
        get { state.settings.reason }
        set { state.change { $0.reason = newValue } }
    }

    /// On the button that cancels; nil for the usual text.
    open var localizedCancelTitle: String? {
        get { state.settings.cancelTitle }
        set { state.change { $0.cancelTitle = newValue } }
    }

    /// On the button that falls back to something else than a finger; nil for the usual text, empty for no such button.
    open var localizedFallbackTitle: String? {
        get { state.settings.fallbackTitle }
        set { state.change { $0.fallbackTitle = newValue } }
    }

    // MARK: What it does

    /// For how many seconds what the person has proved also serves reads without this context; 0 at first.
    ///
    /// How long it serves reads with this context does not depend on it.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { state.settings.reuseDuration }
        set { state.change { $0.reuseDuration = newValue } }
    }

    /// Whether nobody may be asked: then what would ask fails with ``LAError/Code/notInteractive``.
    open var interactionNotAllowed: Bool {
        get { state.settings.interactionNotAllowed }
        set { state.change { $0.interactionNotAllowed = newValue } }
    }

    /// Ends the context: an evaluation that is under way fails with ``LAError/Code/appCancel``, everything later with
    /// ``LAError/Code/invalidContext``.
    open func invalidate() {
        state.invalidate()
    }

    // MARK: What is possible

    /// What there is to recognise a person by, once a policy has been looked at, possible or not.
    open var biometryType: LABiometryType { state.biometryType }

    /// Whether a policy could be proved now; asks nobody, and promises nothing.
    ///
    /// - Parameters:
    ///   - policy: what would have to be proved.
    ///   - error: takes what stands in the way.
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        guard let obstacle = obstacle(to: policy.name, policy) else { return true }
        error?.pointee = obstacle
        return false
    }

    /// What authentication goes by; asks the provider each time.
    open var domainState: LADomainState { currentDomainState }

    /// The elder of ``domainState``: nil before a policy has been looked at or evaluated.
    open var evaluatedPolicyDomainState: Data? {
        state.hasLooked ? domainState.biometry.stateHash : nil
    }

    // MARK: Evaluating

    /// Has the person prove a policy.
    ///
    /// - Parameters:
    ///   - policy: what has to be proved.
    ///   - localizedReason: why, shown in the dialog.
    ///   - reply: is told whether it was proved, and why not; on a thread of its own, never the main one.
    open func evaluatePolicy(
        _ policy: LAPolicy,
        localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        evaluate(policy.name, policy, localizedReason, reply)
    }

    /// Has the person prove a policy, and waits for it; throws what it ended with.
    ///
    /// - Parameters:
    ///   - policy: what has to be proved.
    ///   - localizedReason: why, shown in the dialog.
    /// - Returns: true.
    @discardableResult
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        try await LAContext.reply { evaluatePolicy(policy, localizedReason: localizedReason, reply: $0) }
    }

    /// Has the person prove what an access control asks for, so that items with it can be read in this context.
    ///
    /// - Parameters:
    ///   - accessControl: what has to be proved.
    ///   - operation: what is to be done; for adding something nothing has to be proved.
    ///   - localizedReason: why, shown in the dialog.
    ///   - reply: is told whether it was proved, and why not; on a thread of its own, never the main one.
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl,
        operation: LAAccessControlOperation,
        localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        guard operation.needsAuthentication, let expression = accessControl.constraints else {
            Background.run { reply(true, nil) }
            return
        }
        evaluate(expression, LAAuthenticationRequirement(expression).policy, localizedReason, reply)
    }

    /// Has the person prove what an access control asks for, and waits for it; throws what it ended with.
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

    /// Gives a credential in place of the person; none is taken here, for a password of an item's own is typed into the keychain's own
    /// dialog.
    ///
    /// - Returns: false.
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        false
    }

    /// Whether a credential was given.
    open func isCredentialSet(_ type: LACredentialType) -> Bool {
        false
    }
}

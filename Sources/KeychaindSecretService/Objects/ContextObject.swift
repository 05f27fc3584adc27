import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault

/// An authentication context of the calling client.
struct ContextObject {
    let context: AuthenticationContext
    let authenticator: Authenticator
    let unlocking: Unlocking

    @BusActor static let kind = ObjectKind<ContextObject>([
        Interface(
            InterfaceName.context,
            methods: [
                Method(
                    suspending: "EvaluatePolicy",
                    in: [Parameter("policy", String.self), Parameter("reason", String.self)]
                ) { (object, call) async throws(BusError) in
                    let (policy, reason) = try call.arguments(String.self, String.self)
                    try await object.evaluate(try EvaluationPolicy(named: policy), reason: reason)
                    call.reply()
                },
                Method("Cancel") { (object, call) throws(BusError) in
                    object.context.cancel()
                    call.reply()
                },
                Method("Invalidate") { (object, call) throws(BusError) in
                    object.context.client.invalidate(object.context)
                    call.reply()
                },
                Method(
                    suspending: "Unlock",
                    in: [Parameter("objects", [ObjectPath].self)],
                    out: [Parameter("unlocked", [ObjectPath].self), Parameter("prompt", ObjectPath.self)]
                ) { (object, call) async throws(BusError) in
                    try await object.unlocking(to: .use).answer(call)
                },
                Method(
                    "SetCredential",
                    in: [Parameter("password", signature: EncodedSecret.signature)]
                ) { (object, call) throws(BusError) in
                    try object.setCredential(call)
                    call.reply()
                },
                Method(
                    suspending: "Authorize",
                    in: [Parameter("action", String.self), Parameter("objects", [ObjectPath].self)],
                    out: [Parameter("authorized", [ObjectPath].self), Parameter("prompt", ObjectPath.self)]
                ) { (object, call) async throws(BusError) in
                    try await object.authorize(call)
                },
            ],
            properties: [
                setting("Reason", get: { $0.reason }) { (settings, value) throws(BusError) in
                    settings.reason = try checked(value, limit: reasonLimit)
                },
                setting("CancelTitle", get: { $0.cancelTitle }) { (settings, value) throws(BusError) in
                    settings.cancelTitle = try checked(value, limit: titleLimit)
                },
                setting("FallbackTitle", get: { $0.fallbackTitle }) { (settings, value) throws(BusError) in
                    settings.fallbackTitle = try checked(value, limit: titleLimit)
                },
                setting("FallbackHidden", get: { $0.hidesFallback }) { (settings, value) throws(BusError) in
                    settings.hidesFallback = value
                },
                setting("ReuseDuration", get: { $0.reuseMilliseconds }) { (settings, value) throws(BusError) in
                    try settings.setReuse(milliseconds: value)
                },
                setting("GrantDuration", get: { $0.grantMilliseconds }) { (settings, value) throws(BusError) in
                    try settings.setGrantReuse(milliseconds: value)
                },
                setting("AcceptedAge", get: { $0.acceptedMilliseconds }) { (settings, value) throws(BusError) in
                    try settings.setAcceptedAge(milliseconds: value)
                },
                setting("InteractionNotAllowed", get: { !$0.allowsInteraction }) { (settings, value) throws(BusError) in
                    settings.allowsInteraction = !value
                },
                Property("Failure", String.self, changes: .untold) { object in
                    object.context.failure.map { ErrorName($0.code).rawValue } ?? ""
                },
            ]
        )
    ])

    private static let reasonLimit = 1000
    private static let titleLimit = 100
    /// In bytes.
    private static let credentialLimit = 1024

    @BusActor
    private static func setting<Value: BusValue>(
        _ name: String,
        get: @escaping (AuthenticationSettings) -> Value,
        set: @escaping (inout AuthenticationSettings, Value) throws(BusError) -> Void
    ) -> Property<ContextObject> {
        Property(name, Value.self, changes: .untold) { object in
            get(object.context.settings)
        } set: { (object, value) async throws(BusError) in
            try set(&object.context.settings, value)
        }
    }

    private static func checked(_ text: String, limit: Int) throws(BusError) -> String {
        guard text.utf8.count <= limit else {
            throw BusError(.limitsExceeded, "the text has at most \(limit) bytes")
        }
        return text
    }

    /// Keeps an application password for items of this context; an empty one ends that.
    @BusActor
    private func setCredential(_ call: MethodCall) throws(BusError) {
        defer { call.message.wipeByteArrays() }
        var reader = call.message.makeReader()
        let password = try call.client.sessions.readSecret(&reader)
        guard password.bytes.count <= ContextObject.credentialLimit else {
            throw BusError(.limitsExceeded, "a password has at most \(ContextObject.credentialLimit) bytes")
        }
        guard !password.bytes.isEmpty else { return context.setCredential(nil) }
        context.setCredential(password.takeBytes())
    }

    @BusActor
    private func unlocking(to action: ItemAction) -> ContextUnlocking {
        ContextUnlocking(action: action, context: context, unlocking: unlocking)
    }

    /// Authorises one operation on items, at once or by a prompt; the context keeps the authorisation.
    @BusActor
    private func authorize(_ call: MethodCall) async throws(BusError) {
        var reader = call.message.makeReader()
        let name = try String(from: &reader)
        let action: ItemAction
        switch name {
        case "change": action = .change
        case "protect": action = .changeWithProtection
        case "delete": action = .delete
        default: throw BusError(.invalidArguments, "unknown action '\(PromptText.name(name))'")
        }
        try await unlocking(to: action).answer(call, after: 1)
    }

    @BusActor
    private func evaluate(_ policy: EvaluationPolicy, reason: String) async throws(BusError) {
        var settings = context.settings
        if !reason.isEmpty { settings.reason = try ContextObject.checked(reason, limit: ContextObject.reasonLimit) }
        context.adoptRecentProof()
        if await authenticator.isProved(policy.policy, in: context) { return }
        do throws(AuthenticationError) {
            let conversation = context.client.makeConversation()
            try await context.evaluate(for: settings.reuse, in: conversation) {
                [settings] () async throws(AuthenticationError) in
                try await authenticator.evaluate(policy.policy, settings, in: context, asking: conversation)
            }
        } catch {
            throw BusError(error)
        }
    }
}

/// The policy of an evaluation: one of Apple's names, or an access-control expression.
struct EvaluationPolicy {
    let policy: Policy

    /// Parses a policy; throws `InvalidArgs` for anything else, and for application passwords, which need an item.
    init(named name: String) throws(BusError) {
        switch name {
        case "deviceOwnerAuthentication": policy = Constraint.userPresence.policy
        case "deviceOwnerAuthenticationWithBiometrics": policy = Constraint.biometryAny.policy
        default: policy = try EvaluationPolicy.policy(of: name)
        }
    }

    private static func policy(of expression: String) throws(BusError) -> Policy {
        let required: Policy?
        do throws(AccessControlError) {
            required = try AccessControl(parsing: expression).policy
        } catch {
            throw BusError(.invalidArguments, "unknown policy: \(error.reason)")
        }
        guard let policy = required else {
            throw BusError(.invalidArguments, "the expression requires no authentication")
        }
        guard !policy.factors.contains(.applicationPassword) else {
            throw BusError(.invalidArguments, "an application password can be evaluated with its item only")
        }
        return policy
    }
}

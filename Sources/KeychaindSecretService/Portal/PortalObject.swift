import KeychaindDBus
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault

/// The object that takes portal secrets of other providers.
struct PortalObject {
    let provider: Provider
    let client: Client

    @BusActor static let kind = ObjectKind<PortalObject>([
        Interface(
            InterfaceName.portal,
            methods: [
                Method(
                    suspending: "Import",
                    in: [
                        Parameter("application", String.self),
                        Parameter("secret", signature: EncodedSecret.signature),
                    ],
                    out: [Parameter("taken", Bool.self)]
                ) { (object, call) async throws(BusError) in
                    call.reply(with: try await object.take(call))
                },
                Method(
                    suspending: "Replace",
                    in: [
                        Parameter("application", String.self),
                        Parameter("secret", signature: EncodedSecret.signature),
                    ],
                    out: [Parameter("prompt", ObjectPath.self)]
                ) { (object, call) async throws(BusError) in
                    call.reply(with: try await object.replace(call))
                },
                Method(
                    suspending: "Undo",
                    in: [Parameter("application", String.self)],
                    out: [Parameter("prompt", ObjectPath.self)]
                ) { (object, call) async throws(BusError) in
                    call.reply(with: try await object.undo(call))
                },
            ]
        )
    ])

    @BusActor
    private func take(_ call: MethodCall) async throws(BusError) -> Bool {
        let arguments = try PortalImport(from: call)
        try await client.checkUser(orRefuse: "only their owner can import portal secrets")
        return try await provider.portalSecrets.take(arguments, in: try login, from: client)
    }

    @BusActor private var login: Collection {
        get throws(BusError) {
            guard let login = provider.vault.collection(named: .login), !login.isLocked else {
                throw BusError(.isLocked, "the keychain login is locked")
            }
            return login
        }
    }

    @BusActor
    private func replace(_ call: MethodCall) async throws(BusError) -> ObjectPath {
        let new = try PortalImport(from: call)
        try new.check()
        try await checkReplacing()
        guard try await !provider.portalSecrets.has(new, in: try login) else { return .root }
        return try client.makePrompt(PortalPrompt(new, provider: provider))
    }

    @BusActor
    private func undo(_ call: MethodCall) async throws(BusError) -> ObjectPath {
        let application = try call.arguments(String.self)
        try await checkReplacing()
        let replaced = try await provider.portalSecrets.replacedSecret(for: application, in: try login)
        return try client.makePrompt(PortalPrompt(replaced, provider: provider))
    }

    @BusActor
    private func checkReplacing() async throws(BusError) {
        try await client.checkUser(orRefuse: "only their owner can replace portal secrets")
        // Also those that a person has not limited yet.
        guard !client.view.isSandboxed else {
            throw BusError(.accessDenied, "programs in a sandbox may not replace portal secrets")
        }
    }
}

/// Arguments of `Import` and `Replace`.
struct PortalImport: ~Copyable {
    let application: String
    let secret: SecureBytes

    init(of application: String, _ secret: consuming SecureBytes) {
        self.application = application
        self.secret = secret
    }

    /// Reads the arguments, and wipes the secret from the message even if they are invalid.
    @BusActor
    init(from call: MethodCall) throws(BusError) {
        defer { call.message.wipeByteArrays() }
        var reader = call.message.makeReader()
        let application = try String(from: &reader)
        let secret = try call.client.sessions.readSecret(&reader).takeBytes()
        self.application = application
        self.secret = secret
    }

    consuming func takeSecret() -> SecureBytes { secret }

    /// Throws `InvalidArgs` for a secret of another size, or too long a name.
    borrowing func check() throws(BusError) {
        guard application.utf8.count <= PortalSecrets.applicationLimit else {
            throw BusError(.invalidArguments, "the name of the application is too long")
        }
        guard secret.count == Collection.applicationSecretSize else {
            throw BusError(.invalidArguments, "a portal secret has \(Collection.applicationSecretSize) bytes")
        }
    }
}

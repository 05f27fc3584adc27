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
                }
            ]
        )
    ])

    @BusActor
    private func take(_ call: MethodCall) async throws(BusError) -> Bool {
        let arguments = try PortalImport(from: call)
        try await client.checkUser(orRefuse: "only their owner can import portal secrets")
        guard let login = provider.vault.collection(named: .login) else {
            throw BusError(.isLocked, "there is no keychain login")
        }
        return try await provider.portalSecrets.take(arguments, in: login, from: client)
    }
}

/// Arguments of `Import`.
struct PortalImport: ~Copyable {
    let application: String
    let secret: SecureBytes

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
}

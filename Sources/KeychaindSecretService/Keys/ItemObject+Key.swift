import KeychaindDBus
import KeychaindGcrypt
import KeychaindKeys
import KeychaindModel
import KeychaindVault

/// The interface `Key1`: uses the private key in an item, which need not leave the service for it.
extension ItemObject {
    @BusActor static let keyInterface = Interface<ItemObject>(
        InterfaceName.key,
        methods: [
            Method(
                suspending: "Sign",
                in: [Parameter("algorithm", String.self), Parameter("data", ByteArray.self)],
                out: [Parameter("signature", ByteArray.self)]
            ) { (object, call) async throws(BusError) in
                try await object.sign(call)
            },
            Method(
                suspending: "Decrypt",
                in: [
                    Parameter("session", ObjectPath.self), Parameter("algorithm", String.self),
                    Parameter("ciphertext", ByteArray.self),
                ],
                out: [Parameter("plaintext", signature: EncodedSecret.signature)]
            ) { (object, call) async throws(BusError) in
                try await object.decrypt(call)
            },
            Method(
                suspending: "Agree",
                in: [
                    Parameter("session", ObjectPath.self), Parameter("algorithm", String.self),
                    Parameter("publicKey", ByteArray.self), Parameter("parameters", [String: Variant].self),
                ],
                out: [Parameter("secret", signature: EncodedSecret.signature)]
            ) { (object, call) async throws(BusError) in
                try await object.agree(call)
            },
        ]
    )

    @BusActor
    private func sign(_ call: MethodCall) async throws(BusError) {
        var reader = call.message.makeReader()
        let algorithm = try KeyArguments.readAlgorithm(&reader, for: .sign)
        let data = try KeyArguments.readBytes(&reader, limit: KeyArguments.dataBytes)
        let signature = try await use { (key) throws(KeyError) in try key.sign(data, algorithm) }
        call.reply(with: ByteArray(signature))
    }

    @BusActor
    private func decrypt(_ call: MethodCall) async throws(BusError) {
        var reader = call.message.makeReader()
        let session = try client.sessions.read(&reader)
        let algorithm = try KeyArguments.readAlgorithm(&reader, for: .decrypt)
        let ciphertext = try KeyArguments.readBytes(&reader, limit: KeyArguments.dataBytes)
        let plaintext = try await use { (key) throws(KeyError) in try key.decrypt(ciphertext, algorithm) }
        try session.encode(Secret(bytes: plaintext, contentType: ItemObject.binary)).answer(call)
    }

    @BusActor
    private func agree(_ call: MethodCall) async throws(BusError) {
        var reader = call.message.makeReader()
        let session = try client.sessions.read(&reader)
        let algorithm = try KeyArguments.readAlgorithm(&reader, for: .agree)
        let publicKey = try KeyArguments.readBytes(&reader, limit: KeyArguments.agreementBytes)
        let parameters = try AgreementParameters(from: &reader)
        let (size, sharedInfo) = (parameters.requestedSize, parameters.sharedInfo)
        let secret = try await use { (key) throws(KeyError) in
            try key.agree(with: publicKey, algorithm, size: size, sharedInfo: sharedInfo)
        }
        try session.encode(Secret(bytes: secret, contentType: ItemObject.binary)).answer(call)
    }

    private static let token = "keychain:token"
    private static let binary = "application/octet-stream"

    /// Runs an operation with the key in the client's turn.
    ///
    /// Access is checked on arrival, before the key is read and again before the result is given. An operation that
    /// fails uses up a grant, too: its failure tells something about the key.
    @BusActor
    private func use<Value: ~Copyable & Sendable>(
        _ operation: @escaping @Sendable (any PrivateKey) throws(KeyError) -> Value
    ) async throws(BusError) -> Value {
        if try items.access.authorize(id, in: collection, for: client).isAudited { _ = await client.caller() }
        // The attribute only says whose turn to wait for.
        let inToken = collection.item(id)?.attributes[ItemObject.token] != nil
        return try await items.keys.use(for: client, inToken: inToken) { () async throws(BusError) in
            let key = try await readKey()
            guard key.isInToken == inToken else {
                throw BusError(KeyError(.malformedKey, "the attribute \(ItemObject.token) is wrong"))
            }
            let outcome = await BlockingThread.run {
                KeyOutcome { () throws(KeyError) in try operation(try key.read()) }
            }
            if try items.access.release(id, in: collection, to: client, .keyUse).isAudited {
                try await items.access.syncAudit(for: client)
            }
            do throws(KeyError) {
                return try outcome.get()
            } catch {
                throw BusError(error)
            }
        }
    }

    /// The key in the item's present state.
    @BusActor
    private func readKey() async throws(BusError) -> UsableKey {
        let grant = try items.access.authorize(id, in: collection, for: client).grant
        guard let revision = collection.revision(of: id), let attributes = collection.item(id)?.attributes else {
            throw BusError(.noSuchObject, "the item was deleted")
        }
        let secret: Secret
        do throws(VaultError) {
            secret = try await collection.storedSecret(of: revision, with: grant?.key)
        } catch {
            throw failure(error)
        }
        return try UsableKey(secret, attributes, token: items.keys.token)
    }
}

import DBus
import Gcrypt

extension ProviderLink {
    /// The session, which is opened if there is none; who asks while it is being opened waits for the same one.
    func openSession() async throws(SecretServiceError) -> ProviderSession {
        if let session { return session }
        if let sessionOpening { return try await sessionOpening.value.get() }
        // A task of its own: whoever asked first may be cancelled, and the others still want it.
        let negotiation: @BusActor @Sendable () async -> Result<ProviderSession, SecretServiceError> = {
            await self.negotiateResult()
        }
        let opening = Task(executorPreference: BusActor.loop, operation: negotiation)
        sessionOpening = opening
        return try await opening.value.get()
    }

    private func negotiateResult() async -> Result<ProviderSession, SecretServiceError> {
        defer { sessionOpening = nil }
        do throws(SecretServiceError) {
            let negotiated = try await negotiate()
            // The provider may have left since it has answered.
            guard negotiated.owner == owner else { throw .providerGone }
            session = negotiated
            return .success(negotiated)
        } catch {
            return .failure(error)
        }
    }

    /// Drops a session that the provider has forgotten, unless another has taken its place.
    func forget(_ session: ProviderSession) {
        if self.session === session {
            self.session = nil
        }
    }

    private func negotiate() async throws(SecretServiceError) -> ProviderSession {
        let owner = try await provider()
        switch configuration.encryption {
        case .none:
            return try await openPlain(owner)
        case .required:
            return try await openEncrypted(owner)
        case .preferred:
            do throws(SecretServiceError) {
                return try await openEncrypted(owner)
            } catch {
                // Only this name says that another algorithm may do (spec #20).
                guard error.errorName == ErrorName.notSupported.rawValue else { throw error }
                return try await openPlain(owner)
            }
        }
    }

    private func openPlain(_ owner: String) async throws(SecretServiceError) -> ProviderSession {
        let (_, path) = try await open(Protocol.plain, .string(""), owner)
        return ProviderSession(owner: owner, plain: path)
    }

    private func openEncrypted(_ owner: String) async throws(SecretServiceError) -> ProviderSession {
        let keys = try ProviderLink.makeKeys()
        let (output, path) = try await open(Protocol.diffieHellman, .bytes(ByteArray(keys.publicKey)), owner)
        guard case .bytes(let providerKey) = output else {
            throw SecretServiceError(.invalidAnswer, "the provider's public key is not an array of bytes")
        }
        do throws(GcryptError) {
            let shared = try providerKey.bytes.span.withUnsafeBytes { (key) throws(GcryptError) in
                try keys.sharedSecret(with: key)
            }
            return ProviderSession(owner: owner, path: path, cipher: try SessionCipher(sharedSecret: shared))
        } catch {
            throw SecretServiceError(error)
        }
    }

    private static func makeKeys() throws(SecretServiceError) -> DiffieHellman {
        do throws(GcryptError) {
            return try DiffieHellman(.oakley2)
        } catch {
            throw SecretServiceError(error)
        }
    }

    private func open(
        _ algorithm: String,
        _ input: Variant,
        _ owner: String
    ) async throws(SecretServiceError) -> (output: Variant, path: ObjectPath) {
        let message = Protocol.call(Protocol.serviceObject, Protocol.service, "OpenSession")
        message.append(algorithm, input)
        let reply = try await call(message, to: owner)
        do throws(BusError) {
            let (output, path) = try reply.read(Variant.self, ObjectPath.self)
            guard path != .root else {
                throw BusError(.invalidArguments, "the provider asks for a further round, which no algorithm has")
            }
            return (output, path)
        } catch {
            throw SecretServiceError(reading: error)
        }
    }
}

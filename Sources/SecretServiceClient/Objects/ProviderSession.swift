import KeychaindDBus
import KeychaindGcrypt

/// A session with one provider, in which secrets are encoded.
final class ProviderSession: Sendable {
    private enum Algorithm: ~Copyable, Sendable {
        case plain
        case encrypted(SessionCipher)
    }

    /// The unique name.
    let owner: String
    let path: ObjectPath
    private let algorithm: Algorithm

    init(owner: String, plain path: ObjectPath) {
        self.owner = owner
        self.path = path
        algorithm = .plain
    }

    init(owner: String, path: ObjectPath, cipher: consuming SessionCipher) {
        self.owner = owner
        self.path = path
        algorithm = .encrypted(cipher)
    }

    // MARK: Writing

    /// Encodes a secret as `(oayays)` (spec #13).
    ///
    /// - Parameter asList: whether it is the only element of an `a(oayays)`.
    func append(
        _ secret: borrowing Secret,
        to message: Message,
        asList: Bool = false
    ) throws(SecretServiceError) {
        switch algorithm {
        case .plain:
            secret.withUnsafeBytes { append($0, parameters: [], secret.contentType, to: message, asList) }
        case .encrypted(let cipher):
            let encrypted: (iv: [UInt8], ciphertext: [UInt8])
            do throws(GcryptError) {
                encrypted = try secret.withUnsafeBytes { (bytes) throws(GcryptError) in try cipher.encrypt(bytes) }
            } catch {
                throw SecretServiceError(error)
            }
            encrypted.ciphertext.withUnsafeBytes {
                append($0, parameters: encrypted.iv, secret.contentType, to: message, asList)
            }
        }
    }

    private func append(
        _ value: UnsafeRawBufferPointer,
        parameters: [UInt8],
        _ contentType: String,
        to message: Message,
        _ asList: Bool
    ) {
        let path = path
        let write = { (writer: inout Writer) in
            writer.writeStructure { writer in
                path.write(to: &writer)
                ByteArray(parameters).write(to: &writer)
                writer.writeBytes(value)
                contentType.write(to: &writer)
            }
        }
        message.write { writer in
            if asList { writer.writeArray(of: "(oayays)", write) } else { write(&writer) }
        }
    }

    // MARK: Reading

    func read(_ reader: inout Reader) throws(SecretServiceError) -> Secret {
        var failure: SecretServiceError?
        do throws(BusError) {
            let secret: Secret? = try reader.readStructure { (reader) throws(BusError) in
                let session = try ObjectPath(from: &reader)
                let parameters = try ByteArray(from: &reader)
                let bytes: SecureBytes? = try reader.withBytes { (value) throws(BusError) in
                    do throws(SecretServiceError) {
                        guard session == path else {
                            throw SecretServiceError(.invalidAnswer, "the secret belongs to another session")
                        }
                        return try decode(value, parameters: parameters.bytes)
                    } catch {
                        failure = error
                        return nil
                    }
                }
                let contentType = try String(from: &reader)
                guard let bytes else { return nil }
                return Secret(bytes, contentType: contentType)
            }
            if let secret { return secret }
        } catch {
            throw SecretServiceError(reading: error)
        }
        throw failure ?? SecretServiceError(.invalidAnswer, "the secret could not be read")
    }

    private func decode(
        _ value: UnsafeRawBufferPointer,
        parameters: [UInt8]
    ) throws(SecretServiceError) -> SecureBytes {
        do throws(GcryptError) {
            switch algorithm {
            case .plain:
                return try SecureBytes(copying: value)
            case .encrypted(let cipher):
                return try parameters.span.withUnsafeBytes { (iv) throws(GcryptError) in
                    try cipher.decrypt(value, iv: iv)
                }
            }
        } catch {
            throw SecretServiceError(error)
        }
    }
}

extension ProviderLink {
    /// Opens a session if there is none; concurrent callers share one opening.
    func openSession() async throws(SecretServiceError) -> ProviderSession {
        switch session {
        case .open(let session):
            return session
        case .opening(let opening):
            return try await opening.value.get()
        case .none:
            // A task of its own: cancelling the first caller must not fail the others.
            let negotiation: @BusActor @Sendable () async -> Result<ProviderSession, SecretServiceError> = {
                await self.negotiateResult()
            }
            let opening = Task(executorPreference: BusActor.loop, operation: negotiation)
            session = .opening(opening)
            return try await opening.value.get()
        }
    }

    private func negotiateResult() async -> Result<ProviderSession, SecretServiceError> {
        do throws(SecretServiceError) {
            let negotiated = try await negotiate()
            // The provider may have left since its answer.
            guard negotiated.owner == owner else { throw .providerGone }
            session = .open(negotiated)
            return .success(negotiated)
        } catch {
            session = .none
            return .failure(error)
        }
    }

    /// Does nothing if the session was replaced.
    func forget(_ session: ProviderSession) {
        if case .open(let current) = self.session, current === session { self.session = .none }
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
                // This error alone permits another algorithm (spec #20).
                guard error.errorName == ErrorName.notSupported.rawValue else { throw error }
                return try await openPlain(owner)
            }
        }
    }

    private func openPlain(_ owner: String) async throws(SecretServiceError) -> ProviderSession {
        let (_, path) = try await open(Protocol.plain, .string(""), owner)
        return ProviderSession(owner: owner, plain: path)
    }

    /// Opens sessions until one has a shared secret that does not begin with a zero byte.
    ///
    /// KWallet drops such bytes, one in 256 sessions, and derives another key.
    private func openEncrypted(
        _ owner: String,
        tries: Int = 8
    ) async throws(SecretServiceError) -> ProviderSession {
        let keys = try ProviderLink.makeKeys()
        let (output, path) = try await open(Protocol.diffieHellman, .bytes(ByteArray(keys.publicKey)), owner)
        guard case .bytes(let providerKey) = output else {
            throw SecretServiceError(.invalidAnswer, "the provider's public key is not an array of bytes")
        }
        let beginsWithZero: Bool
        let session: ProviderSession
        do throws(GcryptError) {
            let shared = try providerKey.bytes.span.withUnsafeBytes { (key) throws(GcryptError) in
                try keys.sharedSecret(with: key)
            }
            beginsWithZero = shared.withUnsafeBytes { $0.first == 0 }
            session = ProviderSession(owner: owner, path: path, cipher: try SessionCipher(sharedSecret: shared))
        } catch {
            throw SecretServiceError(error)
        }
        guard beginsWithZero, tries > 1 else { return session }
        send(Protocol.call(path, Protocol.session, "Close"), to: owner)
        return try await openEncrypted(owner, tries: tries - 1)
    }

    /// A key pair whose public key KWallet reads right: one in 512 it takes for another number.
    private static func makeKeys() throws(SecretServiceError) -> DiffieHellman {
        do throws(GcryptError) {
            while true {
                let keys = try DiffieHellman(.oakley2)
                if !keys.isMisreadAsSigned { return keys }
            }
        } catch {
            throw SecretServiceError(error)
        }
    }

    private func open(
        _ algorithm: String,
        _ input: Variant,
        _ owner: String
    ) async throws(SecretServiceError) -> (output: Variant, path: ObjectPath) {
        let message = ProviderInterface.service.call("OpenSession", algorithm, input)
        let reply = try await call(message, to: owner)
        do throws(BusError) {
            let (output, path) = try reply.read(Variant.self, ObjectPath.self)
            guard path != .root else {
                throw BusError(
                    .invalidArguments,
                    "the provider asks for a second round of the key exchange, which no algorithm has"
                )
            }
            return (output, path)
        } catch {
            throw SecretServiceError(reading: error)
        }
    }
}

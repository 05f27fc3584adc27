import DBus
import Gcrypt

/// A session with one provider: how secrets are encoded between it and this client.
final class ProviderSession: Sendable {
    private enum Algorithm: ~Copyable, Sendable {
        case plain
        case encrypted(SessionCipher)
    }

    /// The unique name of the provider.
    let owner: String
    let path: ObjectPath
    private let algorithm: Algorithm

    /// A session that does not encrypt.
    init(owner: String, plain path: ObjectPath) {
        self.owner = owner
        self.path = path
        algorithm = .plain
    }

    /// A session that encrypts.
    init(owner: String, path: ObjectPath, cipher: consuming SessionCipher) {
        self.owner = owner
        self.path = path
        algorithm = .encrypted(cipher)
    }

    // MARK: Writing

    /// Appends a secret to a message, as `(oayays)` (spec #13).
    func append(_ secret: borrowing Secret, to message: Message) throws(SecretServiceError) {
        switch algorithm {
        case .plain:
            secret.withUnsafeBytes { append($0, parameters: [], secret.contentType, to: message) }
        case .encrypted(let cipher):
            let encrypted: (iv: [UInt8], ciphertext: [UInt8])
            do throws(GcryptError) {
                encrypted = try secret.withUnsafeBytes { (bytes) throws(GcryptError) in try cipher.encrypt(bytes) }
            } catch {
                throw SecretServiceError(error)
            }
            encrypted.ciphertext.withUnsafeBytes {
                append($0, parameters: encrypted.iv, secret.contentType, to: message)
            }
        }
    }

    private func append(
        _ value: UnsafeRawBufferPointer,
        parameters: [UInt8],
        _ contentType: String,
        to message: Message
    ) {
        message.write { writer in
            writer.writeStructure { writer in
                path.write(to: &writer)
                ByteArray(parameters).write(to: &writer)
                writer.writeBytes(value)
                contentType.write(to: &writer)
            }
        }
    }

    // MARK: Reading

    /// Reads a secret that came in this session.
    func read(_ reader: inout Reader) throws(SecretServiceError) -> Secret {
        var failure: SecretServiceError?
        do throws(BusError) {
            let secret: Secret? = try reader.readStructure { (reader) throws(BusError) in
                let session = try ObjectPath(from: &reader)
                let parameters = try ByteArray(from: &reader)
                let bytes: SecureBytes? = try reader.withBytes { (value) throws(BusError) in
                    do throws(SecretServiceError) {
                        guard session == path else {
                            throw SecretServiceError(.invalidAnswer, "a secret is encoded for another session")
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
        throw failure ?? SecretServiceError(.invalidAnswer, "a secret could not be read")
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

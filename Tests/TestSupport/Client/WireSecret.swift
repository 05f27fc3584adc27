package import KeychaindDBus
import KeychaindGcrypt

/// A secret in its D-Bus form `(oayays)`.
package struct WireSecret: BusValue, Hashable, Sendable {
    package var session: ObjectPath
    package var parameters: [UInt8]
    package var value: [UInt8]
    package var contentType: String

    package init(session: ObjectPath, parameters: [UInt8] = [], value: [UInt8], contentType: String = "text/plain") {
        self.session = session
        self.parameters = parameters
        self.value = value
        self.contentType = contentType
    }

    package static var signature: String { "(oayays)" }

    package init(from reader: inout Reader) throws(BusError) {
        self = try reader.readStructure { (reader) throws(BusError) in
            WireSecret(
                session: try ObjectPath(from: &reader),
                parameters: try ByteArray(from: &reader).bytes,
                value: try ByteArray(from: &reader).bytes,
                contentType: try String(from: &reader)
            )
        }
    }

    package func write(to writer: inout Writer) {
        writer.writeStructure { writer in
            session.write(to: &writer)
            ByteArray(parameters).write(to: &writer)
            ByteArray(value).write(to: &writer)
            contentType.write(to: &writer)
        }
    }
}

/// The client's side of a `dh-ietf1024-sha256-aes128-cbc-pkcs7` session.
package final class EncryptedSession: Sendable {
    package static let algorithm = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

    package let path: ObjectPath
    /// The service's public key as received.
    package let serviceKey: [UInt8]
    private let cipher: SessionCipher

    /// Negotiates a key with the service.
    ///
    /// - Parameter leadingZeros: zero bytes before the public key, which the specification allows (#28).
    package init(with client: SecretServiceProxy, leadingZeros: Int = 0) async throws {
        _ = try Gcrypt.initialize(lockedBytes: 16 << 20)
        let keys = try DiffieHellman(.oakley2)
        let publicKey = [UInt8](repeating: 0, count: leadingZeros) + keys.publicKey
        let (output, path) = try await client.openSession(Self.algorithm, .bytes(ByteArray(publicKey)))
        guard case .bytes(let key) = output else { throw BusError(.invalidArguments, "the output is not a key") }
        self.path = path
        serviceKey = key.bytes
        let shared = try key.bytes.span.withUnsafeBytes { (key) throws(GcryptError) in
            try keys.sharedSecret(with: key)
        }
        cipher = try SessionCipher(sharedSecret: shared)
    }

    /// Encrypts a secret for this session.
    package func encrypt(_ value: [UInt8], contentType: String = "text/plain") throws -> WireSecret {
        let (iv, ciphertext) = try value.withUnsafeBytes { (value) throws(GcryptError) in try cipher.encrypt(value) }
        return WireSecret(session: path, parameters: iv, value: ciphertext, contentType: contentType)
    }

    /// Decrypts a secret of this session.
    package func decrypt(_ secret: WireSecret) throws -> [UInt8] {
        let plaintext = try secret.value.span.withUnsafeBytes { (value) throws(GcryptError) in
            try secret.parameters.span.withUnsafeBytes { (iv) throws(GcryptError) in try cipher.decrypt(value, iv: iv) }
        }
        return plaintext.withUnsafeBytes { [UInt8]($0) }
    }
}

package import DBus
import Gcrypt

/// The client's side of a session with `dh-ietf1024-sha256-aes128-cbc-pkcs7`.
package final class EncryptedSession: Sendable {
    package static let algorithm = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

    package let path: ObjectPath
    /// The service's public key, as it came.
    package let serviceKey: [UInt8]
    private let cipher: SessionCipher

    /// Agrees on a key with the service.
    ///
    /// - Parameter leadingZeros: sent before the public key, which the specification allows (#28).
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

    /// Puts a secret in the form of this session.
    package func encrypt(_ value: [UInt8], contentType: String = "text/plain") throws -> WireSecret {
        let (iv, ciphertext) = try value.withUnsafeBytes { (value) throws(GcryptError) in try cipher.encrypt(value) }
        return WireSecret(session: path, parameters: iv, value: ciphertext, contentType: contentType)
    }

    /// Reads a secret that came in the form of this session.
    package func decrypt(_ secret: WireSecret) throws -> [UInt8] {
        let plaintext = try secret.value.span.withUnsafeBytes { (value) throws(GcryptError) in
            try secret.parameters.span.withUnsafeBytes { (iv) throws(GcryptError) in try cipher.decrypt(value, iv: iv) }
        }
        return plaintext.withUnsafeBytes { [UInt8]($0) }
    }
}

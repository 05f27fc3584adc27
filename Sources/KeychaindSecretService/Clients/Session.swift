import KeychaindDBus
import KeychaindGcrypt
import KeychaindVault

/// The negotiated encoding of secrets between a client and the service (#19 – #34).
final class Session {
    /// The algorithm and its key.
    enum Transport: ~Copyable {
        case plain
        case encrypted(SessionCipher)
    }

    let number: ObjectNumber
    let path: ObjectPath
    /// The number of the last use among those of the client's sessions.
    var lastUse: UInt64 = 0
    private let transport: Transport

    init(transport: consuming Transport) {
        number = .random()
        path = .session(number)
        self.transport = transport
    }

    /// Decodes a secret.
    ///
    /// Throws `InvalidArgs` for parameters in a plain session (#25). In an encrypted one, a bad vector, length or
    /// padding has the same message (#33).
    private func decode(_ value: UnsafeRawBufferPointer, parameters: [UInt8]) throws(BusError)
        -> SecureBytes
    {
        do throws(GcryptError) {
            switch transport {
            case .plain:
                guard parameters.isEmpty else {
                    throw GcryptError(.invalidCiphertext, reason: "a plain session takes no parameters")
                }
                return try SecureBytes(copying: value)
            case .encrypted(let cipher):
                return try parameters.span.withUnsafeBytes { (iv) throws(GcryptError) in
                    try cipher.decrypt(value, iv: iv)
                }
            }
        } catch {
            throw BusError(error)
        }
    }

    /// Reads the fields of an `(oayays)` after the session path.
    func readSecret(_ reader: inout Reader) throws(BusError) -> Secret {
        let parameters = try ByteArray(from: &reader).bytes
        let value = try reader.withBytes { (value) throws(BusError) in try decode(value, parameters: parameters) }
        return Secret(bytes: value, contentType: try String(from: &reader))
    }

    func encode(_ secret: consuming Secret) throws(BusError) -> EncodedSecret {
        switch transport {
        case .plain:
            return EncodedSecret(session: path, .clear(secret))
        case .encrypted(let cipher):
            do throws(GcryptError) {
                let (iv, ciphertext) = try secret.bytes.withUnsafeBytes { (bytes) throws(GcryptError) in
                    try cipher.encrypt(bytes)
                }
                return EncodedSecret(
                    session: path,
                    .encrypted(iv: iv, ciphertext: ciphertext, contentType: secret.contentType)
                )
            } catch {
                throw BusError(error)
            }
        }
    }
}

/// An algorithm that OpenSession can negotiate.
enum SessionAlgorithm: String {
    case plain
    case diffieHellman = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

    /// Reads the client's input, and returns the session and the output.
    ///
    /// Throws `InvalidArgs` for the wrong type (#25) or a degenerate key (#34).
    func negotiate(_ input: inout Reader) throws(BusError) -> Agreement {
        switch self {
        case .plain:
            _ = try input.readVariant(of: String.self)
            return Agreement(session: Session(transport: .plain), output: .string(""))
        case .diffieHellman:
            return try input.readVariant { (reader) throws(BusError) in
                try reader.withBytes { (key) throws(BusError) in try SessionAlgorithm.agree(with: key) }
            }
        }
    }

    private static func agree(with peer: UnsafeRawBufferPointer) throws(BusError) -> Agreement {
        do throws(GcryptError) {
            let keyPair = try DiffieHellman(.oakley2)
            let cipher = try SessionCipher(sharedSecret: try keyPair.sharedSecret(with: peer))
            return Agreement(
                session: Session(transport: .encrypted(cipher)),
                output: .bytes(ByteArray(keyPair.publicKey))
            )
        } catch {
            throw BusError(error)
        }
    }

    struct Agreement {
        let session: Session
        let output: Variant
    }
}

import DBus
import Gcrypt
import Vault

/// How secrets travel between one caller and the service, as the two have agreed (#19 – #34).
final class Session {
    /// The algorithm, with its key if it has one.
    enum Transport: ~Copyable {
        case plain
        case encrypted(SessionCipher)
    }

    let number: ObjectNumber
    /// The unique name of the only connection that may use it (#35).
    let owner: String
    let path: ObjectPath
    private let transport: Transport

    init(owner: String, transport: consuming Transport) {
        number = .random()
        path = .session(number)
        self.owner = owner
        self.transport = transport
    }

    /// Opens what the owner has sent.
    ///
    /// Throws `InvalidArgs`: for plain, if there are parameters (#25); for encrypted, with one message for a bad vector, length or
    /// padding (#33).
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

    /// Reads the rest of an `(oayays)`, behind the path of this session.
    func readSecret(_ reader: inout Reader) throws(BusError) -> Secret {
        let parameters = try ByteArray(from: &reader).bytes
        let value = try reader.withBytes { (value) throws(BusError) in try decode(value, parameters: parameters) }
        return Secret(bytes: value, contentType: try String(from: &reader))
    }

    /// Brings a secret into the form of this session.
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

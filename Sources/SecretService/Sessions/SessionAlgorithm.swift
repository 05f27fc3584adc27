import DBus
import Gcrypt

/// What OpenSession can agree on.
enum SessionAlgorithm: String {
    case plain
    case diffieHellman = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

    /// Reads the caller's half of the agreement, and makes the transport and the service's half.
    ///
    /// Throws `InvalidArgs` if the input is of the wrong type (#25) or a degenerate key (#34).
    func negotiate(_ input: inout Reader) throws(BusError) -> Agreement {
        switch self {
        case .plain:
            _ = try input.readVariant(of: String.self)
            return Agreement(transport: .plain, output: .string(""))
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
            return Agreement(transport: .encrypted(cipher), output: .bytes(ByteArray(keyPair.publicKey)))
        } catch {
            throw BusError(error)
        }
    }

    /// A transport, and what the caller needs to come to the same.
    struct Agreement: ~Copyable {
        let transport: Session.Transport
        let output: Variant

        consuming func makeSession(owner: String) -> Session {
            Session(owner: owner, transport: transport)
        }
    }
}

import KeychaindDBus
import KeychaindGcrypt

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

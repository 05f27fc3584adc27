import Gcrypt

/// The daemon's side of the exchange that hides a password on its way from the prompter.
///
/// Diffie-Hellman in RFC 3526 group 5, HKDF-SHA256, AES-128-CBC. It keeps passwords out of bus logs; there is no authentication in it,
/// so it does not withstand whoever can take the prompter's place on the bus.
struct GCRExchange: ~Copyable {
    /// Longer passwords stay out of the locked memory, which is small.
    private static let lockedLimit = 4096

    private let keyPair: DiffieHellman

    /// Makes a key pair, for one dialog.
    init() throws(GcryptError) {
        keyPair = try DiffieHellman(.modp1536)
    }

    /// What the prompter needs to encrypt for this side.
    var greeting: GCRExchangeMessage {
        GCRExchangeMessage(publicKey: keyPair.publicKey)
    }

    /// Decrypts the password of a message; throws ``PromptError/Code/failed`` if there is none, or it cannot be decrypted.
    borrowing func openPassword(in message: GCRExchangeMessage) throws(PromptError) -> SecureBytes {
        guard let password = message.password else {
            throw PromptError(.failed, reason: "the prompter's answer has no password in it")
        }
        do throws(GcryptError) {
            return try open(password, from: message.publicKey)
        } catch {
            throw PromptError(.failed, reason: "the prompter's answer cannot be decrypted: \(error.reason)")
        }
    }

    private borrowing func open(
        _ password: GCRExchangeMessage.Password,
        from publicKey: [UInt8]
    ) throws(GcryptError) -> SecureBytes {
        let sharedSecret = try publicKey.span.withUnsafeBytes { (key) throws(GcryptError) in
            try keyPair.sharedSecret(with: key)
        }
        let cipher = try SessionCipher(sharedSecret: sharedSecret)
        let plaintext = try password.ciphertext.span.withUnsafeBytes { (ciphertext) throws(GcryptError) in
            try password.iv.span.withUnsafeBytes { (iv) throws(GcryptError) in
                try cipher.decrypt(ciphertext, iv: iv)
            }
        }
        guard plaintext.count <= GCRExchange.lockedLimit else { return plaintext }
        return try plaintext.copy(in: .locked)
    }
}

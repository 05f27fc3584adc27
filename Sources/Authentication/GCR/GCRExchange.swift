package import Gcrypt

/// The daemon's side of the exchange that hides a password on its way from the prompter.
///
/// Diffie-Hellman in RFC 3526 group 5, HKDF-SHA256, AES-128-CBC. It keeps passwords out of bus logs; there is no
/// authentication in it, so it does not withstand whoever can take the prompter's place on the bus.
package struct GCRExchange: ~Copyable {
    /// Longer passwords stay out of the locked memory, which is small.
    private static let lockedLimit = 4096

    private let keyPair: DiffieHellman

    /// Makes a key pair, for one dialog.
    package init() throws(GcryptError) {
        self.init(keyPair: try DiffieHellman(.modp1536))
    }

    /// Takes a key pair of ``DiffieHellman/Group/modp1536``.
    package init(keyPair: consuming DiffieHellman) {
        self.keyPair = keyPair
    }

    /// What the prompter needs to encrypt for this side.
    package var greeting: GCRExchangeMessage {
        GCRExchangeMessage(publicKey: keyPair.publicKey)
    }

    /// Decrypts the password of a message; throws ``PromptError/Code/failed`` if there is none, or it cannot be
    /// decrypted.
    package borrowing func openPassword(in message: GCRExchangeMessage) throws(PromptError) -> SecureBytes {
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
        let plaintext = try GCRExchange.decrypt(password, sharedSecret: sharedSecret)
        guard plaintext.count <= GCRExchange.lockedLimit else { return plaintext }
        return try plaintext.copy(in: .locked)
    }

    /// Decrypts as GCR encrypts, which leaves out the leading zeros of the shared secret, or as everybody else does.
    ///
    /// One secret in 256 has such a zero. GCR 3.41 leaves it out: 2 of 1,500 handshakes with libgcr were of this kind.
    /// A prompter that pads the secret, as the Secret Service does (spec point #31), is understood too. Once in 65,536
    /// such dialogs both ways give a good padding; the password is then wrong, and asked for again.
    private static func decrypt(
        _ password: GCRExchangeMessage.Password,
        sharedSecret: borrowing SecureBytes
    ) throws(GcryptError) -> SecureBytes {
        let significant = try sharedSecret.withUnsafeBytes { (bytes) throws(GcryptError) in
            try SecureBytes(copying: UnsafeRawBufferPointer(rebasing: bytes.drop { $0 == 0 }), in: .locked)
        }
        do throws(GcryptError) {
            return try decrypt(password, under: SessionCipher(sharedSecret: significant))
        } catch {
            guard error.code == .invalidCiphertext, significant.count < sharedSecret.count else { throw error }
            return try decrypt(password, under: SessionCipher(sharedSecret: sharedSecret))
        }
    }

    private static func decrypt(
        _ password: GCRExchangeMessage.Password,
        under cipher: borrowing SessionCipher
    ) throws(GcryptError) -> SecureBytes {
        try password.ciphertext.span.withUnsafeBytes { (ciphertext) throws(GcryptError) in
            try password.iv.span.withUnsafeBytes { (iv) throws(GcryptError) in
                try cipher.decrypt(ciphertext, iv: iv)
            }
        }
    }
}

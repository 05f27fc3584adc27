package import KeychaindGcrypt

/// The daemon's side of the key exchange that encrypts a prompter's password.
///
/// Diffie-Hellman in RFC 3526 group 5, HKDF-SHA256, AES-128-CBC. It keeps passwords out of bus logs. Without
/// authentication, it cannot stop a process that impersonates the prompter.
package struct GCRExchange: ~Copyable {
    /// Longer passwords stay outside of locked memory, which is scarce.
    private static let lockedLimit = 4096

    private let keyPair: DiffieHellman

    package init() throws(GcryptError) {
        self.init(keyPair: try DiffieHellman(.modp1536))
    }

    /// Uses a key pair of ``DiffieHellman/Group/modp1536``.
    package init(keyPair: consuming DiffieHellman) {
        self.keyPair = keyPair
    }

    /// This side's public key.
    package var greeting: GCRExchangeMessage {
        GCRExchangeMessage(publicKey: keyPair.publicKey)
    }

    /// Decrypts a password; throws ``PromptError/Code/failed`` if it is missing or invalid.
    package borrowing func openPassword(in message: GCRExchangeMessage) throws(PromptError) -> SecureBytes {
        guard let password = message.password else {
            throw PromptError(.failed, reason: "the prompter's answer contains no password")
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

    /// Decrypts with the shared secret without leading zeros, then with the padded one.
    ///
    /// One secret in 256 begins with a zero. GCR 3.41 omits it (2 of 1,500 handshakes with libgcr); the Secret Service
    /// pads it (spec point #31). One such dialog in 65,536 decrypts wrongly without an error, and the person is asked
    /// again.
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

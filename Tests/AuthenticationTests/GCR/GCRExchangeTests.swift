import KeychaindAuthentication
import KeychaindGcrypt
import Testing

@Suite(.lockedPool)
struct GCRExchangeTests {
    /// The encoding of the shared secret.
    enum Form: CaseIterable {
        /// GCR 3.41.
        case withoutLeadingZeros
        /// The Secret Service.
        case padded
    }

    private let password = "pässwörd"

    /// The key pair of a small private key, for reproducible values.
    private func keyPair(_ number: UInt16) throws -> DiffieHellman {
        try DiffieHellman(
            .modp1536,
            exponent: SecureBytes(
                copying: [UInt8](repeating: 0x80, count: 30) + [UInt8(number >> 8), UInt8(number & 0xFF)]
            )
        )
    }

    private func sharedSecret(_ ours: borrowing DiffieHellman, _ key: [UInt8]) throws -> [UInt8] {
        let secret = try key.span.withUnsafeBytes { (key) throws(GcryptError) in try ours.sharedSecret(with: key) }
        return secret.withUnsafeBytes { [UInt8]($0) }
    }

    private func answer(
        to greeting: GCRExchangeMessage,
        with prompter: borrowing DiffieHellman,
        _ form: Form
    ) throws -> GCRExchangeMessage {
        let padded = try sharedSecret(prompter, greeting.publicKey)
        let bytes = form == .padded ? padded : Array(padded.drop { $0 == 0 })
        let cipher = try SessionCipher(sharedSecret: SecureBytes(copying: bytes))
        let (iv, ciphertext) = try Array(password.utf8).span.withUnsafeBytes { (bytes) throws(GcryptError) in
            try cipher.encrypt(bytes)
        }
        return GCRExchangeMessage(
            publicKey: prompter.publicKey,
            password: GCRExchangeMessage.Password(ciphertext: ciphertext, iv: iv)
        )
    }

    private func open(_ message: GCRExchangeMessage, in exchange: borrowing GCRExchange) throws -> String {
        try exchange.openPassword(in: message).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: Form.allCases)
    func openPassword_sharedSecretOfFullSize_isDecrypted(form: Form) throws {
        let exchange = try GCRExchange()
        let message = try answer(to: exchange.greeting, with: keyPair(1), form)
        #expect(try open(message, in: exchange) == password)
    }

    @Test(arguments: Form.allCases)
    func openPassword_sharedSecretWithLeadingZero_isDecryptedInBothForms(form: Form) throws {
        let ours = try keyPair(0)
        let greeting = GCRExchangeMessage(publicKey: ours.publicKey)
        // One public key in 256 gives a shared secret that begins with a zero.
        let number = try #require(try (1...5000).first { try sharedSecret(ours, keyPair($0).publicKey).first == 0 })
        let message = try answer(to: greeting, with: keyPair(number), form)
        #expect(try open(message, in: GCRExchange(keyPair: ours)) == password)
    }

    @Test
    func openPassword_otherKey_fails() throws {
        let exchange = try GCRExchange()
        let message = try answer(to: GCRExchangeMessage(publicKey: keyPair(2).publicKey), with: keyPair(1), .padded)
        let opened = try? open(message, in: exchange)
        // Padding is no authentication: one wrong key in 256 decrypts.
        #expect(opened != password)
    }

    @Test
    func openPassword_noPassword_fails() throws {
        let exchange = try GCRExchange()
        #expect(throws: PromptError(.failed, reason: "")) {
            try exchange.openPassword(in: GCRExchangeMessage(publicKey: [2])).count
        }
    }
}

import KeychaindGcrypt
import KeychaindTestSupport
import Testing

@Suite(.lockedPool) struct SessionCipherTests {
    @Test(arguments: Vector.cases(of: "generated-right-padding"))
    func decrypt_validPadding_returnsPlaintext(vector: Vector) throws {
        let cipher = try SessionCipher(sharedSecret: SecureBytes(copying: vector.bytes("shared")))
        let (plaintext, iv) = (try vector.bytes("plaintext"), try vector.bytes("iv"))
        #expect(try cipher.decrypt(vector.bytes("ciphertext"), iv: iv) == plaintext)
        #expect(try cipher.encrypt(plaintext, iv: iv) == vector.bytes("ciphertext"))
    }

    @Test(arguments: Vector.cases(of: "generated-wrong-padding"))
    func decrypt_invalidPadding_throwsTheOneError(vector: Vector) throws {
        let cipher = try SessionCipher(sharedSecret: SecureBytes(copying: vector.bytes("shared")))
        let (ciphertext, iv) = (try vector.bytes("ciphertext"), try vector.bytes("iv"))
        try expectTheOneError { _ = try cipher.decrypt(ciphertext, iv: iv) }
    }

    @Test func vectors_areFound() {
        #expect(Vector.cases(of: "generated-right-padding").count == 21)
        #expect(Vector.cases(of: "generated-wrong-padding").count == 56)
    }

    @Test(arguments: [0, 1, 15, 17, 31, 33, 47])
    func decrypt_partialBlocks_throwsTheOneError(count: Int) throws {
        let cipher = try SessionCipher(sharedSecret: SecureBytes.random(count: 128))
        let (ciphertext, iv) = (try RandomBytes.nonce(count), try RandomBytes.nonce(16))
        try expectTheOneError { _ = try cipher.decrypt(ciphertext, iv: iv) }
    }

    @Test(arguments: [0, 1, 12, 15, 17, 32])
    func decrypt_ivOfOtherSize_throwsTheOneError(count: Int) throws {
        let cipher = try SessionCipher(sharedSecret: SecureBytes.random(count: 128))
        let ciphertext = try cipher.encrypt([1, 2, 3], iv: RandomBytes.nonce(16))
        let iv = try RandomBytes.nonce(count)
        try expectTheOneError { _ = try cipher.decrypt(ciphertext, iv: iv) }
    }

    @Test func decrypt_nothing_throwsTheOneError() throws {
        let cipher = try SessionCipher(sharedSecret: SecureBytes.random(count: 128))
        try expectTheOneError { _ = try cipher.decrypt(nothing, iv: nothing) }
    }

    @Test func encrypt_nothing_isBlockOfPadding() throws {
        let cipher = try SessionCipher(sharedSecret: SecureBytes.random(count: 128))
        let (iv, ciphertext) = try cipher.encrypt(nothing)
        #expect(ciphertext.count == 16)
        #expect(try cipher.decrypt(ciphertext, iv: iv).isEmpty)
    }

    @Test func decrypt_anySize_returnsPlaintext() throws {
        var random = SeededGenerator(seed: 2)
        let cipher = try SessionCipher(sharedSecret: SecureBytes.random(count: 128))
        for _ in 0..<300 {
            let plaintext = random.bytes(upTo: 200)
            let (iv, ciphertext) = try plaintext.withUnsafeBytes { try cipher.encrypt($0) }
            #expect(ciphertext.count == (plaintext.count / 16 + 1) * 16)
            #expect(try cipher.decrypt(ciphertext, iv: iv) == plaintext)
        }
    }

    @Test func encrypt_twice_usesDifferentIVs() throws {
        let cipher = try SessionCipher(sharedSecret: SecureBytes.random(count: 128))
        let vectors = try (0..<200).map { _ in try cipher.encrypt(nothing).iv }
        #expect(Set(vectors).count == vectors.count)
    }

    @Test(arguments: [0, 15, 17])
    func encrypt_ivOfOtherSize_throws(count: Int) throws {
        let cipher = try SessionCipher(sharedSecret: SecureBytes.random(count: 128))
        #expect(code { _ = try cipher.encrypt([1], iv: RandomBytes.nonce(count)) } == .invalidParameters)
    }

    @Test func decrypt_otherSession_neverReturnsPlaintext() throws {
        let plaintext = Array("a secret that is longer than a block".utf8)
        let mine = try SessionCipher(sharedSecret: SecureBytes.random(count: 128))
        let other = try SessionCipher(sharedSecret: SecureBytes.random(count: 128))
        let (iv, ciphertext) = try plaintext.withUnsafeBytes { try mine.encrypt($0) }
        #expect((try? other.decrypt(ciphertext, iv: iv)) != plaintext)
    }

    /// Expects the one error for every bad ciphertext, with the same code and reason.
    private func expectTheOneError(_ operation: () throws -> Void) throws {
        let error = try #require(throws: GcryptError.self, performing: operation)
        #expect(error.code == .invalidCiphertext)
        #expect(error.reason == "the secret is not encrypted for this session")
    }
}

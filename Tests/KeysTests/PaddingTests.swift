import KeychaindGcrypt
import KeychaindKeys
import Testing

/// Ciphertexts whose padding an attacker made.
struct PaddingTests {
    /// Encodings of 256 bytes that are not PKCS #1 v1.5.
    static let wrongEncodings: [(String, [UInt8])] = [
        ("another first byte", [1, 2] + filled(8) + [0] + filled(245)),
        ("a signature", [0, 1] + [UInt8](repeating: 0xff, count: 8) + [0] + filled(245)),
        ("the type 0", [0, 0] + filled(8) + [0] + filled(245)),
        ("padding of seven bytes", [0, 2] + filled(7) + [0] + filled(246)),
        ("no padding", [0, 2, 0] + filled(253)),
        ("no end of the padding", [0, 2] + filled(254)),
        ("zeros", [UInt8](repeating: 0, count: 256)),
    ]

    @Test(arguments: wrongEncodings)
    func decrypt_wrongPKCS1_throwsTheOneError(name: String, encoding: [UInt8]) throws {
        #expect(encoding.count == 256)
        try expectFailure(encoding, .rsaEncryptionPKCS1)
    }

    @Test("From eight bytes of padding to as many as fit")
    func decrypt_rightPKCS1_returnsPlaintext() throws {
        let key = try Keys.rsa2048.get()
        for count in [8, 9, 100, 252, 253] {
            let plaintext = Self.filled(253 - count)
            let encoding = [0, 2] + Self.filled(count) + [0] + plaintext
            let ciphertext = try #require(key.publicKey).encrypt(encoding, .rsaEncryptionRaw)
            #expect(try key.decrypt(ciphertext, .rsaEncryptionPKCS1).array() == plaintext)
        }
        // Zeros of the plaintext stay.
        let plaintext = [UInt8](repeating: 0, count: 5)
        let ciphertext = try #require(key.publicKey).encrypt(plaintext, .rsaEncryptionPKCS1)
        #expect(try key.decrypt(ciphertext, .rsaEncryptionPKCS1).array() == plaintext)
    }

    @Test(arguments: HashFunction.allCases)
    func decrypt_wrongOAEP_throwsTheOneError(hash: HashFunction) throws {
        let key = try Keys.rsa2048.get()
        let ciphertext = try #require(key.publicKey).encrypt([1, 2, 3], .rsaEncryptionOAEP(hash))
        let right = try key.decrypt(ciphertext, .rsaEncryptionRaw).array()
        // The first byte, the seed, the label, the padding, the plaintext.
        for index in [0, 1, 1 + hash.size, 1 + 2 * hash.size, 250] {
            var encoding = right
            encoding[index] ^= 1
            try expectFailure(encoding, .rsaEncryptionOAEP(hash))
        }
        for other in HashFunction.allCases where other != hash { try expectFailure(right, .rsaEncryptionOAEP(other)) }
    }

    @Test("Plaintexts up to the room that the padding leaves")
    func encrypt_size_isBounded() throws {
        let key = try Keys.rsa2048.get()
        let publicKey = try #require(key.publicKey)
        var limits: [(KeyAlgorithm, Int)] = [(.rsaEncryptionPKCS1, 245)]
        for hash in HashFunction.allCases { limits.append((.rsaEncryptionOAEP(hash), 254 - 2 * hash.size)) }
        for (algorithm, limit) in limits {
            let plaintext = Self.filled(limit)
            #expect(try key.decrypt(publicKey.encrypt(plaintext, algorithm), algorithm).array() == plaintext)
            #expect(throws: KeyError(.invalidInput, "")) {
                _ = try publicKey.encrypt(plaintext + [1], algorithm)
            }
        }
    }

    @Test("A key of AES of another size is not one of the format")
    func decrypt_hybridWithOtherKey_throwsTheOneError() throws {
        let key = try Keys.rsa2048.get()
        let publicKey = try #require(key.publicKey)
        for size in [0, 8, 24, 32] {
            let wrapped = try publicKey.encrypt(Self.filled(size), .rsaEncryptionOAEP(.sha256))
            #expect(throws: KeyError(.decryptionFailed, "")) {
                _ = try key.decrypt(wrapped + Self.filled(40), .rsaEncryptionOAEPAESGCM(.sha256))
            }
        }
    }

    /// Bytes without a zero.
    private static func filled(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(1 + $0 % 255) }
    }

    private func expectFailure(_ encoding: [UInt8], _ algorithm: KeyAlgorithm) throws {
        let key = try Keys.rsa2048.get()
        // Any encoding that is less than the modulus.
        let ciphertext =
            encoding[0] < 0x80 ? try #require(key.publicKey).encrypt(encoding, .rsaEncryptionRaw) : encoding
        #expect(throws: KeyError(.decryptionFailed, "")) { _ = try key.decrypt(ciphertext, algorithm) }
    }
}

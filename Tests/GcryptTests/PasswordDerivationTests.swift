import KeychaindGcrypt
import KeychaindTestSupport
import Testing

/// The key derivations and ciphers of password-protected files of others.
struct PasswordDerivationTests {
    @Test("PBKDF2 agrees with Python", arguments: HashFunction.allCases)
    func pbkdf2_agreesWithPython(hash: HashFunction) async throws {
        let script = """
            import hashlib, sys
            hash, count, iterations = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
            sys.stdout.buffer.write(hashlib.pbkdf2_hmac(hash, b"password", b"salt", iterations, count))
            """
        for (count, iterations) in [(1, 1), (20, 2), (64, 1000)] {
            let result = try await Command.python(script, [hash.rawValue, String(count), String(iterations)])
            let password = try SecureBytes(copying: Array("password".utf8))
            let function = PBKDF2(hash: hash, iterations: iterations)
            let derived = try function.derive(password: password, salt: Array("salt".utf8), count: count)
            #expect(derived.withUnsafeBytes { Array($0) } == result.output)
        }
    }

    @Test(
        "Parameters out of bounds are refused",
        arguments: [(0, 8, 16), (10_000_001, 8, 16), (1, 0, 16), (1, 1025, 16), (1, 8, 0), (1, 8, 65)]
    )
    func derive_outOfBounds_isRefused(iterations: Int, salt: Int, count: Int) throws {
        let password = try SecureBytes(copying: [1])
        let salt = [UInt8](repeating: 1, count: salt)
        let invalid = GcryptError(.invalidParameters, reason: "")
        #expect(throws: invalid) {
            _ = try PBKDF2(hash: .sha256, iterations: iterations).derive(password: password, salt: salt, count: count)
        }
        #expect(throws: invalid) {
            let function = PKCS12Derivation(hash: .sha256, iterations: iterations)
            _ = try function.derive(.encryptionKey, password: password, salt: salt, count: count)
        }
    }

    @Test("Ciphertexts of a wrong size, and keys of another cipher, are refused", arguments: BlockCipher.allCases)
    func decrypt_wrongSizes_areRefused(cipher: BlockCipher) throws {
        let key = try SecureBytes.random(count: cipher.keySize)
        let vector = [UInt8](repeating: 0, count: cipher.blockSize)
        for count in [0, 1, cipher.blockSize + 1] {
            #expect(throws: GcryptError(.invalidCiphertext, reason: "")) {
                let ciphertext = [UInt8](repeating: 7, count: count)
                _ = try cipher.decrypt(ciphertext, key: key, initializationVector: vector)
            }
        }
        let long = try SecureBytes.random(count: cipher.keySize + 1)
        #expect(throws: GcryptError(.invalidParameters, reason: "")) {
            _ = try cipher.decrypt(vector, key: long, initializationVector: vector)
        }
        #expect(throws: GcryptError(.invalidParameters, reason: "")) {
            _ = try cipher.decrypt(vector, key: key, initializationVector: [])
        }
    }
}

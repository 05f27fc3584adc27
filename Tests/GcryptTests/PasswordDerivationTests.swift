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

    @Test("Unpadded ciphers agree with Python", arguments: UnpaddedCipher.allCases)
    func unpaddedCipher_agreesWithPython(cipher: UnpaddedCipher) async throws {
        let script = """
            import sys
            from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
            name, size = sys.argv[1], int(sys.argv[2])
            key = bytes(range(size))
            algorithm = (algorithms.AES if name == "aes128CBC" else algorithms.Blowfish)(key)
            vector = bytes([7] * (algorithm.block_size // 8))
            mode = modes.ECB() if name.endswith("ECB") else modes.CBC(vector)
            sys.stdout.buffer.write(Cipher(algorithm, mode).encryptor().update(bytes(range(64))))
            """
        for size in Set([cipher.keySizes.lowerBound, min(cipher.keySizes.upperBound, 20), cipher.keySizes.upperBound]) {
            let result = try await Command.python(script, [String(describing: cipher), String(size)])
            let key = try SecureBytes(copying: (0..<size).map { UInt8($0) })
            let vector = [UInt8](repeating: 7, count: cipher.blockSize)
            let plaintext = try result.output.span.withUnsafeBytes { (ciphertext) throws(GcryptError) in
                try vector.span.withUnsafeBytes { (vector) throws(GcryptError) in
                    try cipher.decrypt(ciphertext, key: key, initializationVector: vector)
                }
            }
            #expect(plaintext.withUnsafeBytes { Array($0) } == Array(0..<64), "\(result.errors)")
        }
    }

    @Test("Iterated digests agree with Python", arguments: [(1, 0), (2, 3), (1000, 100)])
    func iteratedDigest_agreesWithPython(iterations: Int, count: Int) async throws {
        let script = """
            import hashlib, sys
            value = b"x" * int(sys.argv[2])
            for _ in range(int(sys.argv[1])):
                value = hashlib.sha256(value).digest()
            sys.stdout.buffer.write(value)
            """
        let result = try await Command.python(script, [String(iterations), String(count)])
        let message = [UInt8](repeating: UInt8(ascii: "x"), count: count)
        let digest = try message.span.withUnsafeBytes { (message) throws(GcryptError) in
            try IteratedDigest(hash: .sha256, iterations: iterations).derive(from: [message])
        }
        #expect(digest.withUnsafeBytes { Array($0) } == result.output)
    }

    @Test("Iterations out of bounds are refused", arguments: [-1, 0, 10_000_001])
    func iteratedDigest_outOfBounds_isRefused(iterations: Int) throws {
        #expect(throws: GcryptError(.invalidParameters, reason: "")) {
            _ = try IteratedDigest(hash: .sha256, iterations: iterations).derive(from: [])
        }
    }
}

/// The cipher of a `dh-ietf1024-sha256-aes128-cbc-pkcs7` session and of exchanges with the GCR system prompter (spec
/// #30 to #33).
///
/// It protects secrets against passive recording of the bus. The protocol has no authentication and does not withstand
/// an active attacker (spec #39), so ``decrypt(_:iv:)`` at least never reveals why it failed.
package struct SessionCipher: ~Copyable, Sendable {
    /// In bytes.
    package static let ivSize = CipherHandle.blockSize

    private static let keySize = 16

    private let key: SecureBytes

    /// Derives the session key: HKDF-SHA256 of the shared secret without salt and info.
    ///
    /// The secret from ``DiffieHellman`` is left-padded with zeros to the size of the group (spec #31).
    package init(sharedSecret: borrowing SecureBytes) throws(GcryptError) {
        key = try HKDFSHA256.derive(from: sharedSecret, info: [], count: SessionCipher.keySize, in: .ordinary)
    }

    /// Encrypts under a fresh random initialization vector; the padding adds 1 to 16 bytes.
    package borrowing func encrypt(
        _ plaintext: UnsafeRawBufferPointer
    ) throws(GcryptError) -> (iv: [UInt8], ciphertext: [UInt8]) {
        let iv = try RandomBytes.nonce(SessionCipher.ivSize)
        return (iv, try encrypt(plaintext, iv: iv))
    }

    /// Encrypts under an unpredictable initialization vector of 16 bytes.
    package borrowing func encrypt(_ plaintext: UnsafeRawBufferPointer, iv: [UInt8]) throws(GcryptError) -> [UInt8] {
        let blockSize = CipherHandle.blockSize
        guard iv.count == SessionCipher.ivSize, plaintext.count <= Int.max - blockSize else {
            throw GcryptError(
                .invalidParameters,
                reason: "cannot encrypt \(plaintext.count) bytes with a vector of \(iv.count)"
            )
        }
        let padding = blockSize - plaintext.count % blockSize
        var cipher = try CipherHandle(.aes128CBC, key: key, in: .ordinary)
        try iv.span.withUnsafeBytes { (iv) throws(GcryptError) in
            try cipher.start(nonce: iv)
        }
        return try [UInt8](capacity: plaintext.count + padding) { (output) throws(GcryptError) in
            output.copyMemory(from: plaintext)
            UnsafeMutableRawBufferPointer(rebasing: output[plaintext.count...])
                .initializeMemory(as: UInt8.self, repeating: UInt8(padding))
            try cipher.encrypt(UnsafeRawBufferPointer(output), to: output)
        }
    }

    /// Decrypts a ciphertext.
    ///
    /// Throws ``GcryptError/Code/invalidCiphertext`` if the vector is not 16 bytes long, the ciphertext is empty or not
    /// whole blocks, or the padding is wrong (spec #33). The reason and the work done are always the same.
    package borrowing func decrypt(
        _ ciphertext: UnsafeRawBufferPointer,
        iv: UnsafeRawBufferPointer
    ) throws(GcryptError) -> SecureBytes {
        let blockSize = CipherHandle.blockSize
        guard iv.count == SessionCipher.ivSize, !ciphertext.isEmpty, ciphertext.count.isMultiple(of: blockSize) else {
            throw SessionCipher.invalidCiphertext
        }
        var cipher = try CipherHandle(.aes128CBC, key: key, in: .ordinary)
        try cipher.start(nonce: iv)
        var plaintext = try SecureBytes(count: ciphertext.count)
        let size = try plaintext.withUnsafeMutableBytes { (plaintext) throws(GcryptError) in
            try cipher.decrypt(ciphertext, to: plaintext)
            return SessionCipher.sizeWithoutPadding(UnsafeRawBufferPointer(plaintext))
        }
        guard let size else { throw SessionCipher.invalidCiphertext }
        plaintext.truncate(to: size)
        return plaintext
    }

    private static var invalidCiphertext: GcryptError {
        GcryptError(.invalidCiphertext, reason: "the secret is not encrypted for this session")
    }

    /// The size of a plaintext of whole blocks without its padding; nil if the padding is wrong.
    ///
    /// Constant time: the bytes read and the steps taken do not depend on the content, and only the result is branched
    /// on.
    private static func sizeWithoutPadding(_ plaintext: UnsafeRawBufferPointer) -> Int? {
        let blockSize = CipherHandle.blockSize
        let lastBlock = plaintext[(plaintext.count - blockSize)...]
        let padding = UInt32(plaintext[plaintext.count - 1])
        // The top bit of a negative difference is set.
        var mistakes = (padding &- 1) >> 31 | (UInt32(blockSize) &- padding) >> 31
        for (index, byte) in lastBlock.enumerated() {
            let distanceFromEnd = UInt32(blockSize - index)
            let isPadding = UInt32(0) &- (1 &- ((padding &- distanceFromEnd) >> 31))
            mistakes |= (UInt32(byte) ^ padding) & isPadding
        }
        return mistakes == 0 ? plaintext.count - Int(padding) : nil
    }
}

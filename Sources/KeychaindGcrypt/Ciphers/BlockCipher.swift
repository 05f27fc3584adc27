import CKeychaindGcrypt

/// The ciphers of password-protected files, in CBC mode with PKCS #7 padding (RFC 5652, section 6.3); for reading only.
package enum BlockCipher: CaseIterable, Sendable {
    case aes128
    case aes192
    case aes256
    case tripleDES
    /// RC2 with 40 effective bits (RFC 2268).
    case rc2Short
    /// RC2 with 128 effective bits.
    case rc2

    /// In bytes.
    package var keySize: Int {
        switch self {
        case .aes128, .rc2: 16
        case .aes192, .tripleDES: 24
        case .aes256: 32
        case .rc2Short: 5
        }
    }

    /// In bytes.
    package var blockSize: Int {
        switch self {
        case .aes128, .aes192, .aes256: 16
        case .tripleDES, .rc2Short, .rc2: 8
        }
    }

    var algorithm: gcry_cipher_algos {
        switch self {
        case .aes128: GCRY_CIPHER_AES
        case .aes192: GCRY_CIPHER_AES192
        case .aes256: GCRY_CIPHER_AES256
        case .tripleDES: GCRY_CIPHER_3DES
        case .rc2Short: GCRY_CIPHER_RFC2268_40
        case .rc2: GCRY_CIPHER_RFC2268_128
        }
    }

    /// Decrypts and removes the padding.
    ///
    /// Throws ``GcryptError/Code/invalidCiphertext`` for a wrong length or padding, as a wrong key gives it, and
    /// ``GcryptError/Code/invalidParameters`` for a key or initialization vector of the wrong size.
    package func decrypt(
        _ ciphertext: [UInt8],
        key: borrowing SecureBytes,
        initializationVector: [UInt8]
    ) throws(GcryptError) -> SecureBytes {
        guard key.count == keySize, initializationVector.count == blockSize else {
            throw GcryptError(.invalidParameters, reason: "the key or the initialization vector has a wrong size")
        }
        guard !ciphertext.isEmpty, ciphertext.count.isMultiple(of: blockSize) else {
            throw GcryptError(.invalidCiphertext, reason: "the ciphertext has no whole blocks")
        }
        var handle = try CipherHandle(.blocks(self), key: key, in: .locked)
        var plaintext = try SecureBytes(count: ciphertext.count)
        try initializationVector.span.withUnsafeBytes { (bytes) throws(GcryptError) in try handle.start(nonce: bytes) }
        try ciphertext.span.withUnsafeBytes { (ciphertext) throws(GcryptError) in
            try plaintext.withUnsafeMutableBytes { (plaintext) throws(GcryptError) in
                try handle.decrypt(ciphertext, to: plaintext)
            }
        }
        let padding: Int? = plaintext.withUnsafeBytes { paddingSize(of: $0) }
        guard let padding else { throw GcryptError(.invalidCiphertext, reason: "the padding is invalid") }
        plaintext.truncate(to: plaintext.count - padding)
        return plaintext
    }

    /// The number of padding bytes; nil if they are invalid.
    private func paddingSize(of plaintext: UnsafeRawBufferPointer) -> Int? {
        guard let last = plaintext.last, (1...blockSize).contains(Int(last)) else { return nil }
        return plaintext.suffix(Int(last)).allSatisfy { $0 == last } ? Int(last) : nil
    }
}

import CKeychaindGcrypt

/// The ciphers of files that tell the size of their content themselves; for reading only.
package enum UnpaddedCipher: CaseIterable, Sendable {
    case aes128CBC
    case blowfishCBC
    case blowfishECB

    /// In bytes.
    package var keySizes: ClosedRange<Int> {
        switch self {
        case .aes128CBC: 16...16
        case .blowfishCBC, .blowfishECB: 8...56
        }
    }

    /// In bytes.
    package var blockSize: Int {
        switch self {
        case .aes128CBC: 16
        case .blowfishCBC, .blowfishECB: 8
        }
    }

    var algorithm: gcry_cipher_algos {
        switch self {
        case .aes128CBC: GCRY_CIPHER_AES
        case .blowfishCBC, .blowfishECB: GCRY_CIPHER_BLOWFISH
        }
    }

    var mode: gcry_cipher_modes {
        switch self {
        case .aes128CBC, .blowfishCBC: GCRY_CIPHER_MODE_CBC
        case .blowfishECB: GCRY_CIPHER_MODE_ECB
        }
    }

    /// Decrypts whole blocks.
    ///
    /// Throws ``GcryptError/Code/invalidCiphertext`` for a part of a block, and
    /// ``GcryptError/Code/invalidParameters`` for a key or initialization vector of the wrong size.
    ///
    /// - Parameter initializationVector: a block; the ECB mode ignores it.
    package func decrypt(
        _ ciphertext: UnsafeRawBufferPointer,
        key: borrowing SecureBytes,
        initializationVector: UnsafeRawBufferPointer
    ) throws(GcryptError) -> SecureBytes {
        guard keySizes.contains(key.count), initializationVector.count == blockSize else {
            throw GcryptError(.invalidParameters, reason: "the key or the initialization vector has a wrong size")
        }
        guard ciphertext.count.isMultiple(of: blockSize) else {
            throw GcryptError(.invalidCiphertext, reason: "the ciphertext has no whole blocks")
        }
        var handle = try CipherHandle(.unpadded(self), key: key, in: .locked)
        if self != .blowfishECB { try handle.start(nonce: initializationVector) }
        var plaintext = try SecureBytes(count: ciphertext.count)
        try plaintext.withUnsafeMutableBytes { (plaintext) throws(GcryptError) in
            try handle.decrypt(ciphertext, to: plaintext)
        }
        return plaintext
    }
}

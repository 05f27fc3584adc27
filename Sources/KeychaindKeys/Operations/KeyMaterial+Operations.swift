package import KeychaindGcrypt
import KeychaindModel

extension KeyMaterial {
    /// Whether the key can do an operation with an algorithm.
    package func supports(_ operation: KeyOperation, _ algorithm: KeyAlgorithm) -> Bool {
        algorithm.fits(operation, type: type, keyClass: keyClass, bits: bits)
    }

    /// Signs a message or a digest, as the algorithm says, with a private key.
    package func sign(_ data: [UInt8], _ algorithm: KeyAlgorithm) throws(KeyError) -> [UInt8] {
        try check(.sign, algorithm)
        throw unsupported(algorithm)
    }

    /// Whether a signature is one of a message or digest, by the private key of this public key.
    package func verify(
        _ signature: [UInt8],
        of data: [UInt8],
        _ algorithm: KeyAlgorithm
    ) throws(KeyError) -> Bool {
        try check(.verify, algorithm)
        throw unsupported(algorithm)
    }

    /// Encrypts a plaintext for the owner of this public key.
    package func encrypt(_ plaintext: UnsafeRawBufferPointer, _ algorithm: KeyAlgorithm) throws(KeyError) -> [UInt8] {
        try check(.encrypt, algorithm)
        throw unsupported(algorithm)
    }

    /// Decrypts a ciphertext with a private key.
    ///
    /// Throws ``KeyError/Code/decryptionFailed`` for every ciphertext that is not one for the key.
    package func decrypt(_ ciphertext: [UInt8], _ algorithm: KeyAlgorithm) throws(KeyError) -> SecureBytes {
        try check(.decrypt, algorithm)
        throw unsupported(algorithm)
    }

    /// Agrees on a secret with the owner of a public key, given in its external representation.
    ///
    /// - Parameters:
    ///   - publicKey: a public key of the same curve.
    ///   - algorithm: plain, or with the key derivation of X9.63.
    ///   - size: the size of the secret in bytes, which the key derivation needs; ignored without one.
    ///   - sharedInfo: additional input of the key derivation; ignored without one.
    package func agree(
        with publicKey: [UInt8],
        _ algorithm: KeyAlgorithm,
        size: Int? = nil,
        sharedInfo: [UInt8] = []
    ) throws(KeyError) -> SecureBytes {
        try check(.agree, algorithm)
        throw unsupported(algorithm)
    }

    private func check(_ operation: KeyOperation, _ algorithm: KeyAlgorithm) throws(KeyError) {
        guard supports(operation, algorithm) else { throw unsupported(algorithm) }
    }

    private func unsupported(_ algorithm: KeyAlgorithm) -> KeyError {
        KeyError(
            .unsuitableAlgorithm,
            "\(algorithm.rawValue) is not for \(keyClass.rawValue) keys, \(type.rawValue), of \(bits) bits"
        )
    }
}

package import KeychaindGcrypt
package import KeychaindModel

/// A private key of a token; hashing, encoding and key derivation are done here, the rest by the token.
///
/// Its stored form is the public key (ANSI X9.63), then the key as the token has wrapped it.
package final class TokenKey: Sendable {
    package let type = KeyType.ec
    package let bits = TokenKey.curve.bits

    /// The external representation of the public key.
    package let publicKey: [UInt8]

    private let wrapped: SecureBytes
    private let token: any KeyToken

    private static let curve = PrimeCurve.p256
    private static let publicSize = 1 + 2 * curve.size

    /// Has the token make a key.
    ///
    /// Throws ``KeyError/Code/unsupportedKey`` unless it is an elliptic curve of 256 bits.
    package init(making type: KeyType, bits: Int, in token: any KeyToken) throws(KeyError) {
        guard type == .ec, bits == TokenKey.curve.bits else {
            throw KeyError(.unsupportedKey, "a token has keys of type ec with 256 bits only")
        }
        let made = try token.makeKey()
        // A token is another computer, and may err.
        guard
            try KeyError.translating({ () throws(GcryptError) in
                try TokenKey.curve.isPublicKey(made.publicKey)
            })
        else { throw KeyError(.operationFailed, "the token returned a public key that is not on the curve") }
        publicKey = made.publicKey
        wrapped = try KeyError.translating { () throws(GcryptError) in try made.wrapped.copy(in: .ordinary) }
        self.token = token
    }

    /// Reads the stored form.
    ///
    /// Throws ``KeyError/Code/malformedKey`` for other bytes; whether the wrapped key is one shows when it is used.
    package init(_ stored: borrowing SecureBytes, in token: any KeyToken) throws(KeyError) {
        let point = stored.withUnsafeBytes { Array($0.prefix(TokenKey.publicSize)) }
        guard try X963.curve(ofPublicKey: point) == TokenKey.curve else {
            throw KeyError(.malformedKey, "the public key is one of another curve")
        }
        publicKey = point
        wrapped = try KeyError.translating { () throws(GcryptError) in
            var copy = try stored.copy(in: .ordinary)
            copy.removeFirst(TokenKey.publicSize)
            return copy
        }
        self.token = token
    }

    /// The stored form.
    package func stored() throws(KeyError) -> SecureBytes {
        try KeyError.translating { () throws(GcryptError) in
            var stored = try SecureBytes(count: publicKey.count + wrapped.count)
            stored.withUnsafeMutableBytes { stored in
                stored.copyBytes(from: publicKey)
                wrapped.withUnsafeBytes { wrapped in
                    UnsafeMutableRawBufferPointer(rebasing: stored[publicKey.count...]).copyMemory(from: wrapped)
                }
            }
            return stored
        }
    }
}

extension TokenKey {
    /// As ``KeyMaterial/sign(_:_:)``.
    package func sign(_ data: [UInt8], _ algorithm: KeyAlgorithm) throws(KeyError) -> [UInt8] {
        try check(.sign, algorithm)
        guard let format = algorithm.signatureFormat else { throw unsuitable(algorithm) }
        let size = TokenKey.curve.size
        let digest = try algorithm.digest(of: data).prefix(size)
        // The number that ECDSA signs: the first bits of a longer digest, all bits of a shorter one.
        let number = [UInt8](repeating: 0, count: size - digest.count) + digest
        let signature = try token.sign(number, with: wrapped)
        return ECDSA.Signature(r: Array(signature.prefix(size)), s: Array(signature.suffix(size))).encoded(format)
    }

    /// As ``KeyMaterial/decrypt(_:_:)``.
    package func decrypt(_ ciphertext: [UInt8], _ algorithm: KeyAlgorithm) throws(KeyError) -> SecureBytes {
        try check(.decrypt, algorithm)
        guard case .ecies(_, let hash, let vector) = algorithm else { throw unsuitable(algorithm) }
        let ecies = ECIES(TokenKey.curve, hash, vector)
        let secret = try token.multiply(ecies.ephemeralKey(of: ciphertext), by: wrapped)
        return try ecies.decrypt(ciphertext, sharedSecret: secret)
    }

    /// As ``KeyMaterial/agree(with:_:size:sharedInfo:)``.
    package func agree(
        with publicKey: [UInt8],
        _ algorithm: KeyAlgorithm,
        size: Int?,
        sharedInfo: [UInt8]
    ) throws(KeyError) -> SecureBytes {
        try check(.agree, algorithm)
        let isKey = try KeyError.translating { () throws(GcryptError) in try TokenKey.curve.isPublicKey(publicKey) }
        guard isKey else { throw KeyError(.invalidInput, "the public key is not on the curve of the private key") }
        return try algorithm.secret(
            from: token.multiply(publicKey, by: wrapped),
            size: size,
            sharedInfo: sharedInfo
        )
    }

    private func check(_ operation: KeyOperation, _ algorithm: KeyAlgorithm) throws(KeyError) {
        guard algorithm.fits(operation, type: type, keyClass: .private, bits: bits) else {
            throw unsuitable(algorithm)
        }
    }

    private func unsuitable(_ algorithm: KeyAlgorithm) -> KeyError {
        KeyError(.unsuitableAlgorithm, "\(algorithm.rawValue) is not for private keys, ec, of \(bits) bits")
    }
}

package import KeychaindGcrypt
import KeychaindModel

extension KeyMaterial {
    /// Agrees on a secret with the owner of a public key, given in its external representation.
    ///
    /// Throws ``KeyError/Code/invalidInput`` if that is not a public key of the same curve, or the size is missing.
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
        let coordinate = try withScalar { (curve, scalar) throws(GcryptError) in
            try curve.sharedSecret(of: scalar, with: publicKey)
        }
        return try algorithm.secret(from: coordinate, size: size, sharedInfo: sharedInfo)
    }
}

package import KeychaindGcrypt
import KeychaindModel

extension KeyMaterial {
    /// Whether the key can do an operation with an algorithm.
    package func supports(_ operation: KeyOperation, _ algorithm: KeyAlgorithm) -> Bool {
        algorithm.fits(operation, type: type, keyClass: keyClass, bits: bits)
    }

    func check(_ operation: KeyOperation, _ algorithm: KeyAlgorithm) throws(KeyError) {
        guard supports(operation, algorithm) else { throw unsuitable(algorithm) }
    }

    func unsuitable(_ algorithm: KeyAlgorithm) -> KeyError {
        KeyError(
            .unsuitableAlgorithm,
            "\(algorithm.rawValue) is not for \(keyClass.rawValue) keys, \(type.rawValue), of \(bits) bits"
        )
    }
}

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

extension KeyMaterial {
    /// The size of the modulus of an RSA key in bytes.
    var modulusSize: Int { (bits + 7) / 8 }

    /// The public operation of RSA; nil unless the number is less than the modulus.
    func publicPower(of number: UnsafeRawBufferPointer) throws(KeyError) -> [UInt8]? {
        let key = try PKCS1.publicKey(publicBytes ?? [])
        do throws(GcryptError) {
            return try key.power(of: number)
        } catch  where error.code == .invalidParameters {
            return nil
        } catch {
            throw KeyError(error)
        }
    }

    /// The private operation of RSA; nil unless the number is less than the modulus.
    func privatePower(of number: UnsafeRawBufferPointer) throws(KeyError) -> SecureBytes? {
        try PrivateKeyGate.run(bits: bits) { () throws(KeyError) in
            try withExternalRepresentation { (der) throws(KeyError) in
                let key = try PKCS1.privateKey(der)
                do throws(GcryptError) {
                    return try key.power(of: number)
                } catch  where error.code == .invalidParameters {
                    return nil
                } catch {
                    throw KeyError(error)
                }
            }
        }
    }

    /// Runs an operation with the scalar of an elliptic-curve private key, in locked memory.
    func withScalar<Result: ~Copyable & Sendable>(
        _ body: (PrimeCurve, borrowing SecureBytes) throws(GcryptError) -> Result
    ) throws(KeyError) -> Result {
        let curve = try X963.curve(ofPublicKey: publicBytes ?? [])
        return try PrivateKeyGate.run(bits: bits) { () throws(KeyError) in
            try withExternalRepresentation { (key) throws(KeyError) in
                try KeyError.translating { () throws(GcryptError) in
                    try body(curve, X963.scalar(of: key, on: curve))
                }
            }
        }
    }
}

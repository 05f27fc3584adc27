import KeychaindGcrypt

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

import KeychaindGcrypt

/// Elliptic-curve keys in ANSI X9.63, Apple's external representation: 4, x, y, and the scalar of a private key.
enum X963 {
    /// The curve of a public key, which must be a point on it.
    static func curve(ofPublicKey point: [UInt8]) throws(KeyError) -> PrimeCurve {
        guard let curve = PrimeCurve.allCases.first(where: { point.count == 1 + 2 * $0.size }),
            try KeyError.translating({ () throws(GcryptError) in try curve.isPublicKey(point) })
        else { throw KeyError(.malformedKey, "the data is not a point of a supported curve") }
        return curve
    }

    /// Checks a private key and returns its public key.
    static func publicKey(of privateKey: UnsafeRawBufferPointer) throws(KeyError) -> (publicKey: [UInt8], bits: Int) {
        let point = try Self.point(of: privateKey)
        // First, as the multiplication below takes a thousand times as long.
        let curve = try Self.curve(ofPublicKey: point)
        let found: [UInt8]
        do throws(GcryptError) {
            found = try PrivateKeyGate.run(bits: curve.bits) { () throws(GcryptError) in
                try curve.publicKey(of: scalar(of: privateKey, on: curve))
            }
        } catch {
            throw error.code == .invalidParameters ? KeyError(.malformedKey, error.reason) : KeyError(error)
        }
        guard found == point else { throw KeyError(.malformedKey, "private and public key do not match") }
        return (point, curve.bits)
    }

    /// The scalar of a private key on a curve.
    static func scalar(of privateKey: UnsafeRawBufferPointer, on curve: PrimeCurve) throws(GcryptError) -> SecureBytes {
        let bytes = UnsafeRawBufferPointer(rebasing: privateKey.suffix(curve.size))
        return try SecureBytes(copying: bytes, in: .locked)
    }

    static func makePrivateKey(on curve: PrimeCurve) throws(GcryptError) -> SharedSecret {
        let scalar = try curve.makePrivateKey()
        let point = try curve.publicKey(of: scalar)
        var key = try SecureBytes(count: point.count + scalar.count)
        key.withUnsafeMutableBytes { key in
            key.copyBytes(from: point)
            scalar.withUnsafeBytes { scalar in
                UnsafeMutableRawBufferPointer(rebasing: key[point.count...]).copyMemory(from: scalar)
            }
        }
        return SharedSecret(key)
    }

    /// What a private key says is its public key.
    private static func point(of privateKey: UnsafeRawBufferPointer) throws(KeyError) -> [UInt8] {
        guard let curve = PrimeCurve.allCases.first(where: { privateKey.count == 1 + 3 * $0.size }) else {
            throw KeyError(.malformedKey, "the data is not a private key of a supported curve")
        }
        return Array(privateKey.prefix(1 + 2 * curve.size))
    }
}

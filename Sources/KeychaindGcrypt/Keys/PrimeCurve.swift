/// A NIST curve over a prime field (FIPS 186, appendix D; SEC 2).
///
/// Points are uncompressed: 4, x and y. Private keys are their scalar (SEC 1, sections 2.3.3 and 2.3.5).
package enum PrimeCurve: CaseIterable, Hashable, Sendable {
    case p256
    case p384
    case p521

    package var bits: Int {
        switch self {
        case .p256: 256
        case .p384: 384
        case .p521: 521
        }
    }

    /// The size of a coordinate and of a scalar in bytes.
    package var size: Int { (bits + 7) / 8 }

    var name: StaticString {
        switch self {
        case .p256: "NIST P-256"
        case .p384: "NIST P-384"
        case .p521: "NIST P-521"
        }
    }

    package func isPublicKey(_ point: [UInt8]) throws(GcryptError) -> Bool {
        guard point.count == 1 + 2 * size, point[0] == 4 else { return false }
        let x = try Integer(Array(point[1...size]))
        let y = try Integer(Array(point[(1 + size)...]))
        return try WeierstrassCurve(self).contains(x: x, y: y)
    }

    /// The coordinate x of the product of a private key and the public key of a peer, of ``size`` bytes (SP 800-56A,
    /// section 5.7.1.2).
    ///
    /// Throws ``GcryptError/Code/invalidPublicKey`` unless the public key is a point on the curve: the product with
    /// another point would reveal a part of the private key.
    package func sharedSecret(
        of scalar: borrowing SecureBytes,
        with publicKey: [UInt8]
    ) throws(GcryptError) -> SecureBytes {
        guard try isPublicKey(publicKey) else {
            throw GcryptError(.invalidPublicKey, reason: "the public key is not a point of the curve")
        }
        let curve = try WeierstrassCurve(self)
        let factor = try self.scalar(scalar, on: curve)
        let x = try Integer(Array(publicKey[1...size]))
        let y = try Integer(Array(publicKey[(1 + size)...]))
        return try curve.multiply(x: x, y: y, by: factor, size: size)
    }

    /// Throws ``GcryptError/Code/invalidParameters`` unless the scalar has ``size`` bytes and is valid for the curve.
    package func publicKey(of scalar: borrowing SecureBytes) throws(GcryptError) -> [UInt8] {
        let curve = try WeierstrassCurve(self)
        let factor = try self.scalar(scalar, on: curve)
        let (x, y) = try curve.multiplyGenerator(by: factor, size: size)
        return [4] + x + y
    }

    func scalar(
        _ scalar: borrowing SecureBytes,
        on curve: borrowing WeierstrassCurve
    ) throws(GcryptError) -> Integer {
        guard scalar.count == size else {
            throw GcryptError(.invalidParameters, reason: "the private key has \(scalar.count) bytes, not \(size)")
        }
        let number = try scalar.withUnsafeBytes { (scalar) throws(GcryptError) in try Integer(secret: scalar) }
        guard try curve.isScalar(number) else {
            throw GcryptError(.invalidParameters, reason: "the private key is invalid for the curve")
        }
        return number
    }

    package func makePrivateKey() throws(GcryptError) -> SecureBytes {
        let curve = try WeierstrassCurve(self)
        while true {
            var scalar = try SecureBytes.random(count: size, in: .locked)
            scalar.withUnsafeMutableBytes { $0[0] &= 0xff >> UInt8(size * 8 - bits) }
            let candidate = try scalar.withUnsafeBytes { (bytes) throws(GcryptError) in try Integer(secret: bytes) }
            if try curve.isScalar(candidate) { return scalar }
        }
    }
}

/// One side of a key agreement on Curve25519 (RFC 7748).
package struct X25519: ~Copyable, Sendable {
    /// The size of a private key, a public key and a shared secret in bytes.
    package static let size = 32

    /// The public key: the u-coordinate, least significant byte first.
    package let publicKey: [UInt8]

    // Clamped, most significant byte first, as integers are read.
    private let scalar: SecureBytes

    package init() throws(GcryptError) {
        try self.init(privateKey: SecureBytes.random(count: X25519.size, in: .locked))
    }

    /// Any 32 bytes are a private key (RFC 7748, section 5).
    package init(privateKey: consuming SecureBytes) throws(GcryptError) {
        guard privateKey.count == X25519.size else {
            throw GcryptError(
                .invalidParameters,
                reason: "the private key has \(privateKey.count) bytes, not \(X25519.size)"
            )
        }
        let scalar = try X25519.clamped(privateKey)
        let generator = [9] + [UInt8](repeating: 0, count: X25519.size - 1)
        let point = try X25519.multiply(generator, by: scalar)
        publicKey = point.withUnsafeBytes { point in Array(point) }
        self.scalar = scalar
    }

    /// Derives the secret shared with the owner of a public key of 32 bytes.
    ///
    /// Throws ``GcryptError/Code/invalidPublicKey`` for another size, and for points of small order, whose secret is
    /// zero (RFC 7748, section 6.1).
    package borrowing func sharedSecret(with peer: [UInt8]) throws(GcryptError) -> SecureBytes {
        guard peer.count == X25519.size else {
            throw GcryptError(.invalidPublicKey, reason: "the public key has \(peer.count) bytes, not \(X25519.size)")
        }
        let secret = try X25519.multiply(peer, by: scalar)
        guard !secret.isEqual(to: try SecureBytes(count: X25519.size)) else {
            throw GcryptError(.invalidPublicKey, reason: "the public key has a small order")
        }
        return secret
    }

    private static func clamped(_ privateKey: borrowing SecureBytes) throws(GcryptError) -> SecureBytes {
        var scalar = try SecureBytes(count: size, in: .locked)
        privateKey.withUnsafeBytes { key in
            scalar.withUnsafeMutableBytes { scalar in
                for index in 0..<size { scalar[size - 1 - index] = key[index] }
                scalar[size - 1] &= 0xf8
                scalar[0] = scalar[0] & 0x7f | 0x40
            }
        }
        return scalar
    }

    /// Multiplies a point; zero stands for the point at infinity, as in RFC 7748.
    private static func multiply(
        _ coordinate: [UInt8],
        by scalar: borrowing SecureBytes
    ) throws(GcryptError) -> SecureBytes {
        var bytes = Array(coordinate.reversed())
        // The highest bit is not part of the coordinate (RFC 7748, section 5).
        bytes[0] &= 0x7f
        let point = try bytes.withIntegerBytes { (bytes) throws(GcryptError) in try Integer(bytes: bytes) }
        let factor = try scalar.withUnsafeBytes { (scalar) throws(GcryptError) in try Integer(bytes: scalar) }
        var output = try SecureBytes(count: size, in: .locked)
        guard let product = try MontgomeryCurve().multiply(point, by: factor) else { return output }
        try output.withUnsafeMutableBytes { (output) throws(GcryptError) in
            try product.write(to: output)
            for index in 0..<size / 2 { output.swapAt(index, size - 1 - index) }
        }
        return output
    }
}

extension Array where Element == UInt8 {
    fileprivate func withIntegerBytes(
        _ body: (UnsafeRawBufferPointer) throws(GcryptError) -> Integer
    ) throws(GcryptError) -> Integer {
        try span.withUnsafeBytes(body)
    }
}

/// One side of a Diffie-Hellman key agreement (RFC 2631), with a key pair made for it alone.
package struct DiffieHellman: ~Copyable, Sendable {
    /// The size of a private exponent in bytes: twice the strength of the larger group, and what bounds the cost.
    package static let exponentSize = 32

    private static let exponentSizes = 1...64

    /// The group that is computed in.
    package let group: Group

    /// This side's public key, left-padded with zeros to the size of the group (spec #29).
    package let publicKey: [UInt8]

    private let exponent: SecureBytes

    /// Makes a key pair.
    package init(_ group: Group) throws(GcryptError) {
        var exponent = try SecureBytes.random(count: DiffieHellman.exponentSize, in: .locked)
        // All exponents are of one length, so that the time does not tell it.
        exponent.withUnsafeMutableBytes { $0[0] |= 0x80 }
        try self.init(group, exponent: exponent)
    }

    /// Makes the key pair of a given private exponent, 1 to 64 bytes, most significant byte first.
    package init(_ group: Group, exponent: consuming SecureBytes) throws(GcryptError) {
        guard DiffieHellman.exponentSizes.contains(exponent.count) else {
            throw GcryptError(.invalidParameters, reason: "an exponent of \(exponent.count) bytes")
        }
        let generator = try Integer(hexadecimal: Group.generator)
        let power = try DiffieHellman.power(of: generator, exponent: exponent, in: group)
        guard !power.isLess(than: 2) else {
            throw GcryptError(.invalidParameters, reason: "an exponent that gives a degenerate key")
        }
        publicKey = try [UInt8](capacity: group.size) { (output) throws(GcryptError) in
            try power.write(to: output)
        }
        self.group = group
        self.exponent = exponent
    }

    /// The secret shared with the owner of a public key, left-padded with zeros to the size of the group (spec #31).
    ///
    /// The peer's key is an unsigned integer, most significant byte first, of any size: leading zeros may be there or be left out
    /// (spec #28). Throws ``GcryptError/Code/invalidPublicKey`` when it is less than 2 or greater than p − 2 (spec #34): the
    /// secret would then be one of two values that anybody can name.
    package borrowing func sharedSecret(with peer: UnsafeRawBufferPointer) throws(GcryptError) -> SecureBytes {
        let key = UnsafeRawBufferPointer(rebasing: peer.drop { $0 == 0 })
        guard !key.isEmpty, key.count <= group.size else {
            throw GcryptError(.invalidPublicKey, reason: "a public key of \(key.count) bytes")
        }
        let base = try Integer(bytes: key)
        let largest = try Integer(hexadecimal: group.prime).minusOne()
        guard !base.isLess(than: 2), base.isLess(than: largest) else {
            throw GcryptError(.invalidPublicKey, reason: "a degenerate public key")
        }
        let power = try DiffieHellman.power(of: base, exponent: exponent, in: group)
        var secret = try SecureBytes(count: group.size, in: .locked)
        try secret.withUnsafeMutableBytes { (output) throws(GcryptError) in
            try power.write(to: output)
        }
        return secret
    }

    private static func power(
        of base: borrowing Integer,
        exponent: borrowing SecureBytes,
        in group: Group
    ) throws(GcryptError) -> Integer {
        let modulus = try Integer(hexadecimal: group.prime)
        // Locked memory costs a power nothing that can be measured. What libgcrypt needs on the way may lie outside of the pool if that
        // is full: its integers cannot fail.
        return try exponent.withUnsafeBytes { (exponent) throws(GcryptError) in
            try base.power(try Integer(bytes: exponent), modulo: modulus, in: .locked)
        }
    }
}

/// One side of a Diffie-Hellman key agreement (RFC 2631), with an ephemeral key pair.
package struct DiffieHellman: ~Copyable, Sendable {
    /// The size of a private exponent in bytes: twice the strength of the larger group.
    package static let exponentSize = 32

    private static let exponentSizes = 1...64

    package let group: Group

    /// The public key, left-padded with zeros to the size of the group (spec #29).
    package let publicKey: [UInt8]

    private let exponent: SecureBytes

    /// Whether the public key is misread as a signed number in the fewest bytes.
    ///
    /// There a first byte of 0xFF says nothing before a byte from 0x80 on, and QCA drops it.
    package var isMisreadAsSigned: Bool { publicKey[0] == 0xFF && publicKey[1] >= 0x80 }

    package init(_ group: Group) throws(GcryptError) {
        var exponent = try SecureBytes.random(count: DiffieHellman.exponentSize, in: .locked)
        // All exponents have the same length, so that timing does not reveal it.
        exponent.withUnsafeMutableBytes { $0[0] |= 0x80 }
        try self.init(group, exponent: exponent)
    }

    /// Creates the key pair of a private exponent of 1 to 64 bytes, most significant byte first.
    package init(_ group: Group, exponent: consuming SecureBytes) throws(GcryptError) {
        guard DiffieHellman.exponentSizes.contains(exponent.count) else {
            throw GcryptError(.invalidParameters, reason: "the exponent has \(exponent.count) bytes")
        }
        let generator = try Integer(hexadecimal: Group.generator)
        let power = try DiffieHellman.power(of: generator, exponent: exponent, in: group)
        guard !power.isLess(than: 2) else {
            throw GcryptError(.invalidParameters, reason: "the exponent gives a degenerate key")
        }
        publicKey = try [UInt8](capacity: group.size) { (output) throws(GcryptError) in
            try power.write(to: output)
        }
        self.group = group
        self.exponent = exponent
    }

    /// Derives the secret shared with a peer, left-padded with zeros to the size of the group (spec #31).
    ///
    /// The public key of the peer is an unsigned integer, most significant byte first, with or without leading zeros
    /// (spec #28). Throws ``GcryptError/Code/invalidPublicKey`` if it is less than 2 or greater than p − 2 (spec #34):
    /// the secret would be one of two known values.
    package borrowing func sharedSecret(with peer: UnsafeRawBufferPointer) throws(GcryptError) -> SecureBytes {
        let key = UnsafeRawBufferPointer(rebasing: peer.drop { $0 == 0 })
        guard !key.isEmpty, key.count <= group.size else {
            throw GcryptError(
                .invalidPublicKey,
                reason: "the public key has \(key.count) bytes, the group \(group.size)"
            )
        }
        let base = try Integer(bytes: key)
        let largest = try Integer(hexadecimal: group.prime).minusOne()
        guard !base.isLess(than: 2), base.isLess(than: largest) else {
            throw GcryptError(.invalidPublicKey, reason: "the public key is degenerate")
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
        // Locked memory costs no measurable time here. Temporary integers cannot fail: libgcrypt takes them from the
        // heap when the pool is full.
        return try exponent.withUnsafeBytes { (exponent) throws(GcryptError) in
            try base.power(try Integer(bytes: exponent), modulo: modulus, in: .locked)
        }
    }
}

extension DiffieHellman {
    /// A group of integers modulo a safe prime, with the generator 2.
    package enum Group: Sendable, CaseIterable {
        /// The Second Oakley Group of RFC 2409, 1024 bits, for the Secret Service (spec #27).
        case oakley2

        /// Group 5 of RFC 3526, 1536 bits, for the GCR system prompter.
        case modp1536

        /// The size of the prime, keys and shared secrets in bytes.
        package var size: Int {
            switch self {
            case .oakley2: 128
            case .modp1536: 192
            }
        }

        static let generator: StaticString = "2"

        // Leading zeros keep libgcrypt from reading the first bit as a sign.
        var prime: StaticString {
            switch self {
            case .oakley2:
                """
                00\
                FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74\
                020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B302B0A6DF25F1437\
                4FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED\
                EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF
                """
            case .modp1536:
                """
                00\
                FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74\
                020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B302B0A6DF25F1437\
                4FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED\
                EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF05\
                98DA48361C55D39A69163FA8FD24CF5F83655D23DCA3AD961C62F356208552BB\
                9ED529077096966D670C354E4ABC9804F1746C08CA237327FFFFFFFFFFFFFFFF
                """
            }
        }
    }
}

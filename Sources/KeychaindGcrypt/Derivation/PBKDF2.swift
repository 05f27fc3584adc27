import CKeychaindGcrypt

/// PBKDF2 (RFC 8018, section 5.2), for files of others; keychaind's own use ``Argon2id``.
package struct PBKDF2: Equatable, Sendable {
    /// The hash function of the HMAC.
    package let hash: HashFunction

    package let iterations: Int

    /// In bytes.
    package static let saltBounds = 1...1024

    package static let iterationBounds = 1...10_000_000

    /// In bytes.
    package static let countBounds = 1...64

    /// Unchecked until use.
    package init(hash: HashFunction, iterations: Int) {
        self.hash = hash
        self.iterations = iterations
    }

    /// Derives bytes from a password into locked memory.
    ///
    /// Blocks for as long as the iterations take. Throws ``GcryptError/Code/invalidParameters`` if anything is out of
    /// bounds.
    package func derive(
        password: borrowing SecureBytes,
        salt: [UInt8],
        count: Int
    ) throws(GcryptError) -> SecureBytes {
        guard PBKDF2.saltBounds.contains(salt.count), PBKDF2.iterationBounds.contains(iterations),
            PBKDF2.countBounds.contains(count)
        else { throw GcryptError(.invalidParameters, reason: "PBKDF2 parameters out of bounds") }
        var output = try SecureBytes(count: count, in: .locked)
        try password.withUnsafeBytes { (password) throws(GcryptError) in
            try output.withUnsafeMutableBytes { (output) throws(GcryptError) in
                let result = gcry_kdf_derive(
                    password.baseAddress,
                    password.count,
                    Int32(GCRY_KDF_PBKDF2.rawValue),
                    hash.algorithm,
                    salt,
                    salt.count,
                    UInt(iterations),
                    output.count,
                    output.baseAddress
                )
                try check(result, "compute PBKDF2")
            }
        }
        return output
    }
}

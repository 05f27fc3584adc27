import CKeychaindGcrypt

/// A digest of a digest, many times over: the password hashing of keyrings and wallets before PBKDF2.
package struct IteratedDigest: Equatable, Sendable {
    package let hash: HashFunction

    /// The number of digests, in the bounds of ``PBKDF2``.
    package let iterations: Int

    /// Unchecked until use.
    package init(hash: HashFunction, iterations: Int) {
        self.hash = hash
        self.iterations = iterations
    }

    /// Derives a digest of concatenated parts into locked memory.
    ///
    /// Blocks for as long as the iterations take. Throws ``GcryptError/Code/invalidParameters`` if their number is out
    /// of bounds.
    package func derive(from parts: [UnsafeRawBufferPointer]) throws(GcryptError) -> SecureBytes {
        guard PBKDF2.iterationBounds.contains(iterations) else {
            throw GcryptError(.invalidParameters, reason: "\(iterations) iterations are out of bounds")
        }
        var digest = try SecureBytes(count: hash.size, in: .locked)
        try digest.withUnsafeMutableBytes { (digest) throws(GcryptError) in
            try hash.digest(of: parts, to: digest)
            for _ in 1..<iterations {
                // libgcrypt reads the message before it writes the digest.
                gcry_md_hash_buffer(hash.algorithm, digest.baseAddress, digest.baseAddress, digest.count)
            }
        }
        return digest
    }
}

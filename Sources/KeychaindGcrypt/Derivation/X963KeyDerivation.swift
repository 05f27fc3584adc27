/// The key derivation function of ANSI X9.63 (SEC 1, section 3.6.1).
package enum X963KeyDerivation {
    /// The most bytes of one derivation: far more than any key, and little memory.
    package static let maximumCount = 1 << 20

    /// Derives bytes from a shared secret and further input.
    ///
    /// - Parameter count: the number of bytes, 1 to ``maximumCount``.
    package static func derive(
        from secret: borrowing SecureBytes,
        sharedInfo: [UInt8],
        hash: HashFunction,
        count: Int,
        in memory: SecureBytes.Memory = .ordinary
    ) throws(GcryptError) -> SecureBytes {
        guard (1...maximumCount).contains(count) else {
            throw GcryptError(.invalidParameters, reason: "cannot derive \(count) bytes")
        }
        let rounds = (count + hash.size - 1) / hash.size
        // Whole digests; the rest of the last one is removed.
        var output = try SecureBytes(count: rounds * hash.size, in: memory)
        try output.withUnsafeMutableBytes { (output) throws(GcryptError) in
            try secret.withUnsafeBytes { (secret) throws(GcryptError) in
                for round in 0..<rounds {
                    let block = UnsafeMutableRawBufferPointer(rebasing: output[(round * hash.size)...])
                    let counter = withUnsafeBytes(of: UInt32(round + 1).bigEndian) { Array($0) }
                    try counter.span.withUnsafeBytes { (counter) throws(GcryptError) in
                        try sharedInfo.span.withUnsafeBytes { (info) throws(GcryptError) in
                            try hash.digest(of: [secret, counter, info], to: block)
                        }
                    }
                }
            }
        }
        output.truncate(to: count)
        return output
    }
}

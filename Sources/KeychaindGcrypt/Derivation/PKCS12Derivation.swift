import CKeychaindGcrypt

/// The key derivation of PKCS #12 (RFC 7292, appendix B.2), for reading files of others.
package struct PKCS12Derivation: Equatable, Sendable {
    /// The use of the derived bytes, which differ for each.
    package enum Purpose: UInt8, Sendable {
        case encryptionKey = 1
        case initializationVector = 2
        case authenticationKey = 3
    }

    package let hash: HashFunction

    package let iterations: Int

    /// Unchecked until use.
    package init(hash: HashFunction, iterations: Int) {
        self.hash = hash
        self.iterations = iterations
    }

    /// Derives bytes into locked memory.
    ///
    /// Blocks for as long as the iterations take. Throws ``GcryptError/Code/invalidParameters`` if anything is out of
    /// the bounds of ``PBKDF2``.
    ///
    /// - Parameter password: UTF-16, most significant byte first, with a final zero.
    package func derive(
        _ purpose: Purpose,
        password: borrowing SecureBytes,
        salt: [UInt8],
        count: Int
    ) throws(GcryptError) -> SecureBytes {
        guard PBKDF2.saltBounds.contains(salt.count), PBKDF2.iterationBounds.contains(iterations),
            PBKDF2.countBounds.contains(count)
        else { throw GcryptError(.invalidParameters, reason: "parameters out of bounds") }
        try Gcrypt.initializeIfNeeded()
        let blocks = try makeBlocks(purpose, password, salt)
        return try derive(from: blocks, count: count)
    }

    private var blockSize: Int { hash.size > 32 ? 128 : 64 }

    /// The diversifier, the salt and the password, the latter two repeated to whole blocks.
    private func makeBlocks(
        _ purpose: Purpose,
        _ password: borrowing SecureBytes,
        _ salt: [UInt8]
    ) throws(GcryptError) -> SecureBytes {
        let (saltSize, passwordSize) = (wholeBlocks(salt.count), wholeBlocks(password.count))
        var blocks = try SecureBytes(count: blockSize + saltSize + passwordSize)
        blocks.withUnsafeMutableBytes { blocks in
            for index in 0..<blockSize { blocks[index] = purpose.rawValue }
            for index in 0..<saltSize { blocks[blockSize + index] = salt[index % salt.count] }
            password.withUnsafeBytes { password in
                for index in 0..<passwordSize {
                    blocks[blockSize + saltSize + index] = password[index % password.count]
                }
            }
        }
        return blocks
    }

    private func derive(from blocks: consuming SecureBytes, count: Int) throws(GcryptError) -> SecureBytes {
        var blocks = blocks
        var output = try SecureBytes(count: count, in: .locked)
        var digest = try SecureBytes(count: hash.size, in: .locked)
        var made = 0
        while true {
            blocks.withUnsafeBytes { blocks in digest.withUnsafeMutableBytes { hash(blocks, to: $0) } }
            for _ in 1..<iterations {
                digest.withUnsafeMutableBytes { hash(UnsafeRawBufferPointer($0), to: $0) }
            }
            let size = min(hash.size, count - made)
            output.withUnsafeMutableBytes { output in
                digest.withUnsafeBytes { digest in
                    UnsafeMutableRawBufferPointer(rebasing: output[made...]).copyBytes(from: digest.prefix(size))
                }
            }
            made += size
            guard made < count else { return output }
            blocks.withUnsafeMutableBytes { blocks in digest.withUnsafeBytes { add($0, to: blocks) } }
        }
    }

    private func hash(_ message: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer) {
        // libgcrypt reads the message before it writes the digest.
        gcry_md_hash_buffer(hash.algorithm, output.baseAddress, message.baseAddress, message.count)
    }

    /// Adds the digest, repeated to a block, and 1 to each block behind the diversifier, modulo the block's size.
    private func add(_ digest: UnsafeRawBufferPointer, to blocks: UnsafeMutableRawBufferPointer) {
        for start in stride(from: blockSize, to: blocks.count, by: blockSize) {
            var carry: UInt16 = 1
            for index in (0..<blockSize).reversed() {
                carry += UInt16(blocks[start + index]) + UInt16(digest[index % digest.count])
                blocks[start + index] = UInt8(truncatingIfNeeded: carry)
                carry >>= 8
            }
        }
    }

    private func wholeBlocks(_ count: Int) -> Int {
        (count + blockSize - 1) / blockSize * blockSize
    }
}

import CKeychaindGcrypt

/// HMAC (RFC 2104) with a prepared key, in locked memory.
///
/// libgcrypt's own takes memory from the locked pool for each code. It looks through the keys in the pool for it, so
/// that many make it slow, and ends the process if the pool is full.
struct KeyedDigest: ~Copyable, Sendable {
    private let blockSize: Int
    private var digest: DigestHandle
    /// The key combined with the inner pad, with the outer one, and the inner digest.
    private var blocks: SecureBytes

    init(_ function: HashFunction, key: UnsafeRawBufferPointer) throws(GcryptError) {
        let blockSize = function.blockSize
        var digest = try DigestHandle(function)
        var blocks = try SecureBytes(count: 2 * blockSize + function.size, in: .locked)
        try blocks.withUnsafeMutableBytes { (blocks) throws(GcryptError) in
            if key.count > blockSize {
                digest.write(key)
                try digest.finish { blocks.copyMemory(from: $0) }
            } else {
                blocks.copyMemory(from: key)
            }
            for position in 0..<blockSize {
                blocks[blockSize + position] = blocks[position] ^ 0x5C
                blocks[position] ^= 0x36
            }
        }
        digest.write(blocks, ..<blockSize)
        self.blockSize = blockSize
        self.digest = digest
        self.blocks = blocks
    }

    mutating func write(_ part: UnsafeRawBufferPointer) {
        digest.write(part)
    }

    /// Passes the code to the closure and begins with the next message.
    mutating func finish<Result>(_ body: (UnsafeRawBufferPointer) -> Result) throws(GcryptError) -> Result {
        try Self.finish(&digest, into: &blocks, from: 2 * blockSize)
        digest.write(blocks, blockSize...)
        let result = try digest.finish(body)
        digest.write(blocks, ..<blockSize)
        return result
    }

    // Static, since a closure over the blocks could not use the digest of the same value.
    private static func finish(
        _ digest: inout DigestHandle,
        into blocks: inout SecureBytes,
        from start: Int
    ) throws(GcryptError) {
        try blocks.withUnsafeMutableBytes { (blocks) throws(GcryptError) in
            let inner = UnsafeMutableRawBufferPointer(rebasing: blocks[start...])
            try digest.finish { inner.copyMemory(from: $0) }
        }
    }
}

/// A libgcrypt handle of a digest in locked memory; closed and wiped on deinit.
///
/// `@unchecked Sendable`: the value owns the handle, and every use needs exclusive access.
private struct DigestHandle: ~Copyable, @unchecked Sendable {
    private let handle: gcry_md_hd_t
    private let function: HashFunction

    init(_ function: HashFunction) throws(GcryptError) {
        try Gcrypt.initializeIfNeeded()
        var opened: gcry_md_hd_t?
        try check(
            gcry_md_open(&opened, function.algorithm, GCRY_MD_FLAG_SECURE.rawValue),
            "open a digest",
            locked: true
        )
        guard let opened else {
            throw GcryptError(.operationFailed, reason: "open a digest: no handle")
        }
        handle = opened
        self.function = function
    }

    deinit {
        gcry_md_close(handle)
    }

    mutating func write(_ part: UnsafeRawBufferPointer) {
        guard let base = part.baseAddress else { return }
        gcry_md_write(handle, base, part.count)
    }

    mutating func write(_ bytes: borrowing SecureBytes, _ range: some RangeExpression<Int>) {
        bytes.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// Passes the digest to the closure and begins with the next message.
    mutating func finish<Result>(_ body: (UnsafeRawBufferPointer) -> Result) throws(GcryptError) -> Result {
        guard let digest = gcry_md_read(handle, function.algorithm) else {
            throw GcryptError(.operationFailed, reason: "read a digest: no result")
        }
        defer { gcry_md_reset(handle) }
        return body(UnsafeRawBufferPointer(start: digest, count: function.size))
    }
}

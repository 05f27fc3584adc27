import CKeychaindGcrypt

/// The hash functions of signatures, paddings and key derivation (FIPS 180-4).
package enum HashFunction: String, CaseIterable, Hashable, Sendable {
    /// For the algorithms of others that name it; its collisions are known.
    case sha1

    case sha224
    case sha256
    case sha384
    case sha512

    /// The size of a digest in bytes.
    package var size: Int {
        switch self {
        case .sha1: 20
        case .sha224: 28
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// The size of the blocks in bytes that it takes a message apart into.
    var blockSize: Int {
        switch self {
        case .sha1, .sha224, .sha256: 64
        case .sha384, .sha512: 128
        }
    }

    var algorithm: Int32 {
        switch self {
        case .sha1: Int32(GCRY_MD_SHA1.rawValue)
        case .sha224: Int32(GCRY_MD_SHA224.rawValue)
        case .sha256: Int32(GCRY_MD_SHA256.rawValue)
        case .sha384: Int32(GCRY_MD_SHA384.rawValue)
        case .sha512: Int32(GCRY_MD_SHA512.rawValue)
        }
    }

    package func digest(of message: [UInt8]) throws(GcryptError) -> [UInt8] {
        try Gcrypt.initializeIfNeeded()
        var digest = [UInt8](repeating: 0, count: size)
        gcry_md_hash_buffer(algorithm, &digest, message, message.count)
        return digest
    }

    /// Writes the digest of a message to the front of a buffer of at least ``size`` bytes, without allocating.
    package func digest(
        of message: UnsafeRawBufferPointer,
        to output: UnsafeMutableRawBufferPointer
    ) throws(GcryptError) {
        guard output.count >= size else {
            throw GcryptError(.invalidParameters, reason: "the buffer has \(output.count) bytes, not \(size)")
        }
        try Gcrypt.initializeIfNeeded()
        gcry_md_hash_buffer(algorithm, output.baseAddress, message.baseAddress, message.count)
    }

    /// Writes the digest of concatenated parts, which may be secret, to the front of a buffer of at least ``size``
    /// bytes.
    package func digest(
        of parts: [UnsafeRawBufferPointer],
        to output: UnsafeMutableRawBufferPointer
    ) throws(GcryptError) {
        guard output.count >= size else {
            throw GcryptError(.invalidParameters, reason: "the buffer has \(output.count) bytes, not \(size)")
        }
        try Gcrypt.initializeIfNeeded()
        var opened: gcry_md_hd_t?
        // In ordinary memory, which is wiped when it is closed: the pool may be full.
        try check(gcry_md_open(&opened, algorithm, 0), "open a digest")
        guard let opened else { throw GcryptError(.operationFailed, reason: "open a digest: no handle") }
        defer { gcry_md_close(opened) }
        for part in parts {
            guard let base = part.baseAddress else { continue }
            gcry_md_write(opened, base, part.count)
        }
        guard let digest = gcry_md_read(opened, algorithm) else {
            throw GcryptError(.operationFailed, reason: "read a digest: no result")
        }
        output.copyMemory(from: UnsafeRawBufferPointer(start: digest, count: size))
    }

    /// HMAC of a message (RFC 2104).
    package func authenticationCode(of message: [UInt8], key: borrowing SecureBytes) throws(GcryptError) -> [UInt8] {
        try key.withUnsafeBytes { (key) throws(GcryptError) in
            var digest = try KeyedDigest(self, key: key)
            message.withUnsafeBytes { digest.write($0) }
            return try digest.finish { [UInt8]($0) }
        }
    }
}

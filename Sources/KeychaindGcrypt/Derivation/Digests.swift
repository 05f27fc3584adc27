import CKeychaindGcrypt
import Synchronization

/// HMAC-SHA256 (RFC 2104) with a prepared key, about 1 KiB of the locked pool; any thread may use it.
package struct HMACSHA256: ~Copyable, Sendable {
    /// In bytes.
    package static let size = 32

    private let digest: Mutex<KeyedDigest>

    package init(key: borrowing SecureBytes) throws(GcryptError) {
        digest = Mutex(
            try key.withUnsafeBytes { (key) throws(GcryptError) in
                try KeyedDigest(.sha256, key: key)
            }
        )
    }

    /// The code of the concatenated parts.
    package borrowing func authenticate(_ parts: UnsafeRawBufferPointer...) throws(GcryptError) -> [UInt8] {
        try digest.withLock { (digest) throws(GcryptError) in
            for part in parts { digest.write(part) }
            return try digest.finish { [UInt8]($0) }
        }
    }

    /// Writes the authentication code of a message to a buffer of at least 32 bytes, without allocating.
    package borrowing func authenticate(
        _ message: UnsafeRawBufferPointer,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(GcryptError) {
        guard buffer.count >= HMACSHA256.size else {
            throw GcryptError(
                .invalidParameters,
                reason: "the buffer has \(buffer.count) bytes, not \(HMACSHA256.size)"
            )
        }
        try digest.withLock { (digest) throws(GcryptError) in
            digest.write(message)
            try digest.finish { buffer.copyMemory(from: $0) }
        }
    }

    /// The first 64 bits of the authentication code of a message, most significant byte first, without allocating.
    package borrowing func tag(_ message: UnsafeRawBufferPointer) throws(GcryptError) -> UInt64 {
        try digest.withLock { (digest) throws(GcryptError) in
            digest.write(message)
            return try digest.finish { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
        }
    }
}

/// MD5 (RFC 1321), only for the checksums of files of others.
package enum MD5 {
    /// In bytes.
    package static let size = 16

    package static func digest(of message: UnsafeRawBufferPointer) throws(GcryptError) -> [UInt8] {
        try Gcrypt.initializeIfNeeded()
        var digest = [UInt8](repeating: 0, count: size)
        gcry_md_hash_buffer(Int32(GCRY_MD_MD5.rawValue), &digest, message.baseAddress, message.count)
        return digest
    }
}

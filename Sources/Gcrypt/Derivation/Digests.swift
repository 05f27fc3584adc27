import Synchronization

/// HMAC-SHA256 (RFC 2104) with a key that is absorbed once.
///
/// It may be used from any thread. The absorbed key takes about 1.2 KiB of the locked pool.
package struct HMACSHA256: ~Copyable, Sendable {
    /// The size of an authentication code in bytes.
    package static let size = 32

    private let digest: Mutex<DigestHandle>

    /// Absorbs a key of any size.
    package init(key: borrowing SecureBytes) throws(GcryptError) {
        digest = Mutex(
            try key.withUnsafeBytes { (key) throws(GcryptError) in
                try DigestHandle(key: key)
            }
        )
    }

    /// The authentication code of the parts, one after the other.
    package borrowing func authenticate(_ parts: UnsafeRawBufferPointer...) throws(GcryptError) -> [UInt8] {
        try digest.withLock { (digest) throws(GcryptError) in
            for part in parts { digest.write(part) }
            return try digest.finish { [UInt8]($0) }
        }
    }

    /// Writes the authentication code of a message to a buffer of at least 32 bytes: nothing is allocated.
    package borrowing func authenticate(
        _ message: UnsafeRawBufferPointer,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(GcryptError) {
        guard buffer.count >= HMACSHA256.size else {
            throw GcryptError(.invalidParameters, reason: "a buffer of \(buffer.count) bytes for \(HMACSHA256.size)")
        }
        try digest.withLock { (digest) throws(GcryptError) in
            digest.write(message)
            try digest.finish { buffer.copyMemory(from: $0) }
        }
    }

    /// The first 64 bits, most significant byte first, of the authentication code of a message: nothing is allocated.
    package borrowing func tag(_ message: UnsafeRawBufferPointer) throws(GcryptError) -> UInt64 {
        try digest.withLock { (digest) throws(GcryptError) in
            digest.write(message)
            return try digest.finish { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
        }
    }
}

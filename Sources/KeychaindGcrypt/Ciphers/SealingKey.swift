import Synchronization

/// An AES-256-GCM key with its key schedule, for authenticated encryption.
///
/// Sealed bytes are nonce (12) ‖ ciphertext ‖ tag (16). Nonces are random, so a key should seal at most 2³² messages
/// (NIST SP 800-38D, 8.3). The schedule takes about 2 KiB of the locked pool.
///
/// Any thread may use it; the lock is cheap beside the cipher. Threads that open many messages are faster with
/// a key each.
package struct SealingKey: ~Copyable, Sendable {
    /// In bytes.
    package static let keySize = 32

    /// In bytes.
    package static let nonceSize = 12

    /// The size of a sealed message less that of its plaintext, in bytes.
    package static let overhead = nonceSize + tagSize

    private static let tagSize = 16

    private let cipher: Mutex<CipherHandle>

    package init(_ key: borrowing SecureBytes) throws(GcryptError) {
        guard key.count == SealingKey.keySize else {
            throw GcryptError(
                .invalidParameters,
                reason: "the sealing key has \(key.count) bytes, not \(SealingKey.keySize)"
            )
        }
        cipher = Mutex(try CipherHandle(.aes256GCM, key: key, in: .locked))
    }

    package borrowing func seal(
        _ plaintext: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(GcryptError) -> [UInt8] {
        try seal(plaintext, associatedData: associatedData) { (nonce) throws(GcryptError) in
            try RandomBytes.fill(nonce)
        }
    }

    /// Seals a plaintext under a nonce of 12 bytes, which the caller must never reuse with this key.
    package borrowing func seal(
        _ plaintext: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer,
        nonce: [UInt8]
    ) throws(GcryptError) -> [UInt8] {
        guard nonce.count == SealingKey.nonceSize else {
            throw GcryptError(
                .invalidParameters,
                reason: "the nonce has \(nonce.count) bytes, not \(SealingKey.nonceSize)"
            )
        }
        return try seal(plaintext, associatedData: associatedData) { $0.copyBytes(from: nonce) }
    }

    private borrowing func seal(
        _ plaintext: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer,
        writingNonce: (UnsafeMutableRawBufferPointer) throws(GcryptError) -> Void
    ) throws(GcryptError) -> [UInt8] {
        let (size, overflow) = plaintext.count.addingReportingOverflow(SealingKey.overhead)
        guard !overflow else {
            throw GcryptError(.invalidParameters, reason: "the plaintext is too long: \(plaintext.count) bytes")
        }
        return try [UInt8](capacity: size) { (output) throws(GcryptError) in
            try seal(plaintext, associatedData: associatedData, into: output, writingNonce: writingNonce)
        }
    }

    /// Seals a plaintext into a buffer that is exactly ``overhead`` bytes longer, without allocating.
    package borrowing func seal(
        _ plaintext: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(GcryptError) {
        guard output.count - SealingKey.overhead == plaintext.count else {
            throw GcryptError(.invalidParameters, reason: "the buffer has \(output.count) bytes")
        }
        try seal(plaintext, associatedData: associatedData, into: output) { (nonce) throws(GcryptError) in
            try RandomBytes.fill(nonce)
        }
    }

    private borrowing func seal(
        _ plaintext: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        writingNonce: (UnsafeMutableRawBufferPointer) throws(GcryptError) -> Void
    ) throws(GcryptError) {
        let nonce = UnsafeMutableRawBufferPointer(rebasing: output[..<SealingKey.nonceSize])
        try writingNonce(nonce)
        let ciphertext = UnsafeMutableRawBufferPointer(rebasing: output[SealingKey.nonceSize...])
        try cipher.withLock { (cipher) throws(GcryptError) in
            try cipher.start(nonce: UnsafeRawBufferPointer(nonce))
            try cipher.authenticate(associatedData)
            try cipher.encrypt(plaintext, to: ciphertext)
            try cipher.tag(to: UnsafeMutableRawBufferPointer(rebasing: ciphertext[plaintext.count...]))
        }
    }

    /// Opens sealed bytes.
    ///
    /// Throws ``GcryptError/Code/authenticationFailed`` if they are too short, were changed, or were sealed under
    /// another key or other associated data.
    package borrowing func open(
        _ sealed: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(GcryptError) -> SecureBytes {
        var plaintext = try SecureBytes(count: max(0, sealed.count - SealingKey.overhead))
        _ = try plaintext.withUnsafeMutableBytes { (plaintext) throws(GcryptError) in
            try open(sealed, associatedData: associatedData, into: plaintext)
        }
        return plaintext
    }

    /// Opens sealed bytes into a buffer without allocating, and returns the size of the plaintext.
    ///
    /// The buffer needs room for the plaintext, which is ``overhead`` bytes shorter than the sealed bytes. The caller
    /// wipes it; after an error it is zero.
    package borrowing func open(
        _ sealed: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(GcryptError) -> Int {
        guard sealed.count >= SealingKey.overhead else {
            throw GcryptError(.authenticationFailed, reason: "the sealed bytes are too short")
        }
        let size = sealed.count - SealingKey.overhead
        guard buffer.count >= size else {
            throw GcryptError(.invalidParameters, reason: "the buffer has \(buffer.count) bytes, not \(size)")
        }
        let plaintext = UnsafeMutableRawBufferPointer(rebasing: buffer[..<size])
        let nonce = UnsafeRawBufferPointer(rebasing: sealed[..<SealingKey.nonceSize])
        let ciphertext = UnsafeRawBufferPointer(rebasing: sealed[SealingKey.nonceSize..<(SealingKey.nonceSize + size)])
        let tag = UnsafeRawBufferPointer(rebasing: sealed[(SealingKey.nonceSize + size)...])
        do throws(GcryptError) {
            try cipher.withLock { (cipher) throws(GcryptError) in
                try cipher.start(nonce: nonce)
                try cipher.authenticate(associatedData)
                try cipher.decrypt(ciphertext, to: plaintext)
                guard try cipher.hasTag(tag) else {
                    throw GcryptError(
                        .authenticationFailed,
                        reason: "the sealed bytes were changed, or sealed otherwise"
                    )
                }
            }
        } catch {
            wipe(plaintext)
            throw error
        }
        return size
    }
}

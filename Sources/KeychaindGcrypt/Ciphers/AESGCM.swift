/// AES-GCM of one message with a key of 16 or 32 bytes and a chosen vector, as in Apple's hybrid encryption.
///
/// A key must not encrypt two messages with the same vector. ``SealingKey`` is for keys that are used more than once.
package enum AESGCM {
    package static let tagSize = 16

    /// Encrypts a message and appends its tag.
    package static func encrypt(
        _ plaintext: UnsafeRawBufferPointer,
        key: borrowing SecureBytes,
        vector: [UInt8],
        associatedData: [UInt8]
    ) throws(GcryptError) -> [UInt8] {
        let (size, overflow) = plaintext.count.addingReportingOverflow(tagSize)
        guard !overflow else { throw GcryptError(.invalidParameters, reason: "the plaintext is too long") }
        var cipher = try start(key, vector, associatedData)
        return try [UInt8](capacity: size) { (output) throws(GcryptError) in
            let (text, tag) = split(output, at: plaintext.count)
            try cipher.encrypt(plaintext, to: text)
            try cipher.tag(to: tag)
        }
    }

    /// Decrypts a ciphertext with its tag.
    ///
    /// Throws ``GcryptError/Code/authenticationFailed`` unless it was encrypted with the same key, vector and
    /// associated data.
    package static func decrypt(
        _ ciphertext: UnsafeRawBufferPointer,
        key: borrowing SecureBytes,
        vector: [UInt8],
        associatedData: [UInt8]
    ) throws(GcryptError) -> SecureBytes {
        guard ciphertext.count >= tagSize else {
            throw GcryptError(.authenticationFailed, reason: "the ciphertext is too short")
        }
        let size = ciphertext.count - tagSize
        var cipher = try start(key, vector, associatedData)
        var plaintext = try SecureBytes(count: size)
        try plaintext.withUnsafeMutableBytes { (plaintext) throws(GcryptError) in
            try cipher.decrypt(UnsafeRawBufferPointer(rebasing: ciphertext[..<size]), to: plaintext)
        }
        guard try cipher.hasTag(UnsafeRawBufferPointer(rebasing: ciphertext[size...])) else {
            throw GcryptError(.authenticationFailed, reason: "the ciphertext was changed, or is for another key")
        }
        return plaintext
    }

    private static func start(
        _ key: borrowing SecureBytes,
        _ vector: [UInt8],
        _ associatedData: [UInt8]
    ) throws(GcryptError) -> CipherHandle {
        var cipher =
            switch key.count {
            case 16: try CipherHandle(.aes128GCM, key: key, in: .ordinary)
            case 32: try CipherHandle(.aes256GCM, key: key, in: .ordinary)
            default: throw GcryptError(.invalidParameters, reason: "a key of AES cannot have \(key.count) bytes")
            }
        try vector.span.withUnsafeBytes { (vector) throws(GcryptError) in try cipher.start(nonce: vector) }
        try associatedData.span.withUnsafeBytes { (data) throws(GcryptError) in try cipher.authenticate(data) }
        return cipher
    }

    private static func split(
        _ buffer: UnsafeMutableRawBufferPointer,
        at index: Int
    ) -> (UnsafeMutableRawBufferPointer, UnsafeMutableRawBufferPointer) {
        (.init(rebasing: buffer[..<index]), .init(rebasing: buffer[index...]))
    }
}

/// HKDF with SHA-256 (RFC 5869), built on HMAC, as libgcrypt has HKDF only from version 1.11.
package enum HKDFSHA256 {
    /// The most bytes of one derivation.
    package static let maximumCount = 255 * HMACSHA256.size

    /// Derives bytes from a key.
    ///
    /// - Parameters:
    ///   - from: the input keying material; not a password.
    ///   - salt: the salt; empty means 32 zero bytes (RFC 5869, section 2.2).
    ///   - count: the number of bytes, 1 to ``maximumCount``.
    package static func derive(
        from key: borrowing SecureBytes,
        salt: [UInt8] = [],
        info: [UInt8],
        count: Int,
        in memory: SecureBytes.Memory
    ) throws(GcryptError) -> SecureBytes {
        guard (1...maximumCount).contains(count) else {
            throw GcryptError(.invalidParameters, reason: "cannot derive \(count) bytes")
        }
        return try expand(try extract(from: key, salt: salt), info: info, count: count, in: memory)
    }

    private static func extract(
        from key: borrowing SecureBytes,
        salt: [UInt8]
    ) throws(GcryptError) -> SecureBytes {
        let saltOrZeros = salt.isEmpty ? [UInt8](repeating: 0, count: HMACSHA256.size) : salt
        let saltBytes = try SecureBytes(copying: saltOrZeros)
        let extractor = try HMACSHA256(key: saltBytes)
        var pseudorandomKey = try SecureBytes(count: HMACSHA256.size, in: .locked)
        try pseudorandomKey.withUnsafeMutableBytes { (output) throws(GcryptError) in
            try key.withUnsafeBytes { (key) throws(GcryptError) in
                try extractor.authenticate(key, into: output)
            }
        }
        return pseudorandomKey
    }

    private static func expand(
        _ pseudorandomKey: borrowing SecureBytes,
        info: [UInt8],
        count: Int,
        in memory: SecureBytes.Memory
    ) throws(GcryptError) -> SecureBytes {
        let expander = try HMACSHA256(key: pseudorandomKey)
        // T(n-1) ‖ info ‖ n; the first round omits the empty T(0).
        var message = try SecureBytes(count: HMACSHA256.size + info.count + 1, in: .locked)
        var block = try SecureBytes(count: HMACSHA256.size, in: .locked)
        var output = try SecureBytes(count: count, in: memory)
        try message.withUnsafeMutableBytes { (message) throws(GcryptError) in
            UnsafeMutableRawBufferPointer(rebasing: message[HMACSHA256.size...]).copyBytes(from: info)
            try block.withUnsafeMutableBytes { (block) throws(GcryptError) in
                try output.withUnsafeMutableBytes { (output) throws(GcryptError) in
                    var rest = output[...]
                    var round: UInt8 = 0
                    while !rest.isEmpty {
                        round += 1
                        message[message.count - 1] = round
                        let start = round == 1 ? HMACSHA256.size : 0
                        try expander.authenticate(UnsafeRawBufferPointer(rebasing: message[start...]), into: block)
                        message.copyMemory(from: UnsafeRawBufferPointer(block))
                        let size = min(rest.count, block.count)
                        UnsafeMutableRawBufferPointer(rebasing: rest).copyMemory(
                            from: UnsafeRawBufferPointer(rebasing: block[..<size])
                        )
                        rest = rest.dropFirst(size)
                    }
                }
            }
        }
        return output
    }
}

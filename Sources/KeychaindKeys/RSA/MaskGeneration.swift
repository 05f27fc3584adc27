import KeychaindGcrypt

extension HashFunction {
    /// Masks bytes with the output of MGF1 (RFC 8017, appendix B.2.1).
    func mask(
        _ bytes: UnsafeMutableRawBufferPointer,
        seed: UnsafeRawBufferPointer
    ) throws(GcryptError) {
        var block = try SecureBytes(count: size)
        for start in stride(from: 0, to: bytes.count, by: size) {
            let counter = withUnsafeBytes(of: UInt32(start / size).bigEndian) { Array($0) }
            try block.withUnsafeMutableBytes { (block) throws(GcryptError) in
                try counter.span.withUnsafeBytes { (counter) throws(GcryptError) in
                    try digest(of: [seed, counter], to: block)
                }
                for index in start..<min(start + size, bytes.count) { bytes[index] ^= block[index - start] }
            }
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// A part of the buffer.
    func part(_ range: some RangeExpression<Int>) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: self[range])
    }
}

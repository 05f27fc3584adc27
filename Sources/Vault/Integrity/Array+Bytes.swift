extension Array where Element == UInt8 {
    /// Calls a closure with the bytes; unlike the standard library's method, with typed errors.
    func withRawBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try span.withUnsafeBytes(body)
    }

    /// Appends an integer, big-endian.
    mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { bytes in append(contentsOf: bytes) }
    }
}

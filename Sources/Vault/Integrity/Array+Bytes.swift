extension Array where Element == UInt8 {
    /// Gives the bytes to a closure with typed errors, which the standard library's own method lacks.
    func withRawBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try span.withUnsafeBytes(body)
    }

    /// Appends an integer, most significant byte first.
    mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { bytes in append(contentsOf: bytes) }
    }
}

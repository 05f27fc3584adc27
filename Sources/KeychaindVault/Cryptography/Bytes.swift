/// A reader of big-endian data that never reads past the end.
struct FieldReader {
    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes
    }

    var remaining: UnsafeRawBufferPointer { rest }

    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) -> Value? {
        guard let bytes = bytes(MemoryLayout<Value>.size) else { return nil }
        return Value(bigEndian: bytes.loadUnaligned(as: Value.self))
    }

    mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }
        return UnsafeRawBufferPointer(rebasing: rest[..<count])
    }
}

extension ArraySlice<UInt8> {
    /// Calls a closure with the bytes; unlike the standard library's method, with typed errors.
    func withRawBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try span.withUnsafeBytes(body)
    }
}

extension [UInt8] {
    /// Calls a closure with the bytes; unlike the standard library's method, with typed errors.
    func withRawBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try span.withUnsafeBytes(body)
    }

    /// The bytes in hexadecimal, two digits for each.
    package func hexadecimal(uppercase: Bool = false) -> String {
        map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: uppercase) }.joined()
    }

    mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { bytes in append(contentsOf: bytes) }
    }
}

/// Reads what was written most significant byte first, and never past the end.
struct ByteReader {
    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes
    }

    /// The bytes that have not been read.
    var remaining: UnsafeRawBufferPointer { rest }

    /// The next integer; nil when too few bytes are left.
    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) -> Value? {
        guard let bytes = bytes(MemoryLayout<Value>.size) else { return nil }
        return Value(bigEndian: bytes.loadUnaligned(as: Value.self))
    }

    /// The next bytes; nil when too few are left.
    mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }
        return UnsafeRawBufferPointer(rebasing: rest[..<count])
    }
}

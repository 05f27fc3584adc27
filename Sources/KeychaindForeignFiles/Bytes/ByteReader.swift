import KeychaindGcrypt

/// Reads numbers and strings, most significant byte first, from bytes that may end anywhere.
///
/// Valid only as long as the bytes are.
struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { offset == bytes.count }

    var remaining: Int { bytes.count - offset }

    mutating func take(_ count: Int) throws(ForeignFileError) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= remaining else { throw .damaged(at: offset) }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    mutating func byte() throws(ForeignFileError) -> UInt8 {
        try take(1)[0]
    }

    mutating func uint32() throws(ForeignFileError) -> UInt32 {
        UInt32(bigEndian: try take(4).loadUnaligned(as: UInt32.self))
    }

    mutating func uint64() throws(ForeignFileError) -> UInt64 {
        UInt64(bigEndian: try take(8).loadUnaligned(as: UInt64.self))
    }

    /// Reads a number of entries that have at least so many bytes each, so that it cannot promise more than there are.
    mutating func count(entryBytes: Int) throws(ForeignFileError) -> Int {
        let start = offset
        let count = Int(try uint32())
        guard count <= remaining / entryBytes else { throw .damaged(at: start) }
        return count
    }

    /// Reads bytes behind their number; nil if the number is 2³² − 1, the null of both GNOME and Qt.
    mutating func sizedBytes() throws(ForeignFileError) -> UnsafeRawBufferPointer? {
        let start = offset
        let size = try uint32()
        guard size != .max else { return nil }
        guard size <= remaining else { throw .damaged(at: start) }
        return try take(Int(size))
    }

    /// Reads UTF-8 text behind its size.
    mutating func text() throws(ForeignFileError) -> String? {
        let start = offset
        guard let bytes = try sizedBytes() else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .damaged(at: start) }
        return text
    }
}

extension SecureBytes {
    /// Copies bytes, with the error of this module.
    init(secret bytes: UnsafeRawBufferPointer) throws(ForeignFileError) {
        do throws(GcryptError) {
            try self.init(copying: bytes)
        } catch {
            throw ForeignFileError(.outOfMemory, "there is no memory for a secret of \(bytes.count) bytes")
        }
    }
}

/// Reads a structure in GLib's GVariant format, least significant byte first, from bytes that may lie.
///
/// A structure ends with the offsets at which its parts of variable size end, the last one first. The last part has
/// none. Valid only as long as the bytes are.
struct GVariantStructure {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    /// Where the offsets that were not read yet end.
    private var end: Int

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        end = bytes.count
    }

    mutating func uint32() throws(ForeignFileError) -> UInt32 {
        UInt32(littleEndian: try fixed(4).loadUnaligned(as: UInt32.self))
    }

    mutating func uint64() throws(ForeignFileError) -> UInt64 {
        UInt64(littleEndian: try fixed(8).loadUnaligned(as: UInt64.self))
    }

    /// Reads a part of variable size, whose bytes need no alignment, that is not the last one.
    mutating func part() throws(ForeignFileError) -> UnsafeRawBufferPointer {
        let size = GVariantOffset.size(in: bytes)
        guard end - size >= offset else { throw .damaged(at: offset) }
        end -= size
        let limit = GVariantOffset.read(at: end, in: bytes)
        guard limit >= UInt64(offset), limit <= UInt64(end) else { throw .damaged(at: offset) }
        defer { offset = Int(limit) }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<Int(limit)])
    }

    /// Reads the last part, whose bytes need no alignment.
    mutating func rest() throws(ForeignFileError) -> UnsafeRawBufferPointer {
        guard offset <= end else { throw .damaged(at: offset) }
        defer { offset = end }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<end])
    }

    private mutating func fixed(_ size: Int) throws(ForeignFileError) -> UnsafeRawBufferPointer {
        let start = (offset + size - 1) / size * size
        guard start + size <= end else { throw .damaged(at: offset) }
        offset = start + size
        return UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
    }
}

/// The elements of an array in GLib's GVariant format, each of variable size and without alignment.
///
/// The array ends with the offsets at which they end, the first one first.
struct GVariantArray {
    let count: Int

    private let bytes: UnsafeRawBufferPointer
    private let table: Int

    init(_ bytes: UnsafeRawBufferPointer) throws(ForeignFileError) {
        self.bytes = bytes
        guard !bytes.isEmpty else {
            (count, table) = (0, 0)
            return
        }
        let size = GVariantOffset.size(in: bytes)
        guard bytes.count >= size else { throw .damaged(at: 0) }
        let start = GVariantOffset.read(at: bytes.count - size, in: bytes)
        guard start < UInt64(bytes.count), (bytes.count - Int(start)).isMultiple(of: size) else {
            throw .damaged(at: bytes.count - size)
        }
        table = Int(start)
        count = (bytes.count - table) / size
    }

    func element(_ index: Int) throws(ForeignFileError) -> UnsafeRawBufferPointer {
        let start = index == 0 ? 0 : end(of: index - 1)
        let end = end(of: index)
        guard start <= end, end <= UInt64(table) else { throw .damaged(at: table) }
        return UnsafeRawBufferPointer(rebasing: bytes[Int(start)..<Int(end)])
    }

    private func end(of index: Int) -> UInt64 {
        GVariantOffset.read(at: table + index * GVariantOffset.size(in: bytes), in: bytes)
    }
}

/// The offsets of a container, whose size follows from that of the container.
private enum GVariantOffset {
    static func size(in container: UnsafeRawBufferPointer) -> Int {
        switch container.count {
        case ...0xff: 1
        case ...0xffff: 2
        case ...0xffff_ffff: 4
        default: 8
        }
    }

    static func read(at position: Int, in container: UnsafeRawBufferPointer) -> UInt64 {
        container[position..<position + size(in: container)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

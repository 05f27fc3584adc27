/// The tags in an item's row: 8 bytes each, big-endian; a remainder is ignored.
struct StoredTags: Sequence {
    private let bytes: UnsafeRawBufferPointer

    /// Reads tags in place; the bytes must stay valid.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The number of tags.
    var count: Int { bytes.count / 8 }

    func makeIterator() -> Iterator {
        Iterator(bytes: bytes)
    }

    /// An iterator over the tags.
    struct Iterator: IteratorProtocol {
        fileprivate let bytes: UnsafeRawBufferPointer
        private var offset = 0

        fileprivate init(bytes: UnsafeRawBufferPointer) {
            self.bytes = bytes
        }

        mutating func next() -> UInt64? {
            guard bytes.count - offset >= 8 else { return nil }
            defer { offset += 8 }
            return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
    }
}

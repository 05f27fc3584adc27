/// The tags of an item as its row has them: 8 bytes each, most significant byte first; what is left over at the end is no tag.
struct StoredTags: Sequence {
    private let bytes: UnsafeRawBufferPointer

    /// Reads tags where they lie, as long as they lie there.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// How many there are.
    var count: Int { bytes.count / 8 }

    func makeIterator() -> Iterator {
        Iterator(bytes: bytes)
    }

    /// Reads one tag after the other.
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

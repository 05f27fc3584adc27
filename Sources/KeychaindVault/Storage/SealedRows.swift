import Glibc

/// Tags and sealed metadata of rows, one after the other, in pages that go back to the system together.
///
/// `@unchecked Sendable`: threads share it only once all rows are in it.
final class SealedRows: @unchecked Sendable {
    struct Row {
        let tags: UnsafeRawBufferPointer
        let metadata: UnsafeRawBufferPointer
    }

    /// The most bytes, as many as the derivation of a key takes.
    private static let maximumCapacity = 64 << 20
    /// The size of large pages, which large collections use.
    private static let largePage = 2 << 20
    /// The numbers of bytes.
    private static let headerSize = 4 + 4

    private let memory: UnsafeMutableRawBufferPointer
    /// The bytes in use.
    private(set) var count = 0

    /// - Parameter size: enough bytes for all rows, such as the size of their file; nil if there is no memory.
    init?(size: Int) {
        let capacity = min(max(size, 4096), Self.maximumCapacity)
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let memory = mmap(nil, capacity, PROT_READ | PROT_WRITE, flags, -1, 0), memory != MAP_FAILED else {
            return nil
        }
        // The first use of a small page costs as much as the copies of ten rows.
        if capacity >= 2 * Self.largePage { madvise(memory, capacity, MADV_HUGEPAGE) }
        self.memory = UnsafeMutableRawBufferPointer(start: memory, count: capacity)
    }

    deinit {
        munmap(memory.baseAddress, memory.count)
    }

    /// False if there is no room.
    func append(_ row: CollectionFile.Row) -> Bool {
        let tags = count + Self.headerSize
        let metadata = tags + row.tags.count
        let end = metadata + row.metadata.count
        guard end <= memory.count else { return false }
        memory.storeBytes(of: UInt32(row.tags.count), toByteOffset: count, as: UInt32.self)
        memory.storeBytes(of: UInt32(row.metadata.count), toByteOffset: count + 4, as: UInt32.self)
        UnsafeMutableRawBufferPointer(rebasing: memory[tags..<metadata]).copyMemory(from: row.tags)
        UnsafeMutableRawBufferPointer(rebasing: memory[metadata..<end]).copyMemory(from: row.metadata)
        count = end
        return true
    }

    /// Calls `body` with each row in a range of bytes until it returns false, and returns whether it saw all.
    func forEach<Failure: Error>(
        in range: Range<Int>,
        _ body: (Row) throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        var position = range.lowerBound
        while position < range.upperBound {
            let tags = position + Self.headerSize
            let metadata = tags + Int(memory.loadUnaligned(fromByteOffset: position, as: UInt32.self))
            let end = metadata + Int(memory.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self))
            let row = Row(
                tags: UnsafeRawBufferPointer(rebasing: memory[tags..<metadata]),
                metadata: UnsafeRawBufferPointer(rebasing: memory[metadata..<end])
            )
            guard try body(row) else { return false }
            position = end
        }
        return true
    }
}

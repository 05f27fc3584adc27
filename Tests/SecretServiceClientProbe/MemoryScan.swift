import Glibc

/// Searches the memory of this process.
enum MemoryScan {
    /// Unique bytes, generated one by one, so that no other copy exists.
    static func byte(_ index: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: (index &* 73) ^ (index >> 2) ^ 0xa5)
    }

    /// Their number.
    static let count = 48

    /// The number of copies in writable memory.
    static func occurrences() -> Int {
        guard let maps = fopen("/proc/self/maps", "r") else { return -1 }
        defer { fclose(maps) }
        let memory = open("/proc/self/mem", O_RDONLY)
        defer { close(memory) }
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { chunk.deallocate() }
        let own = UInt(bitPattern: chunk.baseAddress)..<UInt(bitPattern: chunk.baseAddress) + UInt(chunk.count)
        var found = 0
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, Int32(line.count), maps) != nil {
            let fields = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                .split(separator: " ")
            let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard bounds.count == 2, fields[1].hasPrefix("rw") else { continue }
            var address = bounds[0]
            while address < bounds[1] {
                let length = min(chunk.count, Int(bounds[1] - address))
                let read = pread(memory, chunk.baseAddress, length, off_t(address))
                guard read > 0 else { break }
                found += occurrences(in: chunk[..<read], at: address, besides: own)
                guard read == length, address + UInt(length) < bounds[1] else { break }
                // Copies across two chunks are found with the second one.
                address += UInt(length - count)
            }
        }
        return found
    }

    private static func occurrences(
        in bytes: Slice<UnsafeMutableRawBufferPointer>,
        at address: UInt,
        besides own: Range<UInt>
    ) -> Int {
        guard let base = bytes.base.baseAddress else { return 0 }
        var found = 0
        var start = 0
        // The C library is fast; an unoptimised loop would take a minute.
        while start + count <= bytes.count, let first = memchr(base + start, Int32(byte(0)), bytes.count - start) {
            start = first - UnsafeMutableRawPointer(base)
            guard start + count <= bytes.count else { break }
            if !own.contains(address + UInt(start)), (0..<count).allSatisfy({ bytes[start + $0] == byte($0) }) {
                found += 1
            }
            start += 1
        }
        return found
    }
}

import Foundation
import Glibc

/// Searches all writable memory of this process.
///
/// Each byte of a pattern is complemented, so that the search does not put the pattern into memory.
struct MemoryScan {
    private static let chunk = 1 << 20
    private static let page: UInt = 4096

    /// Returns the occurrences of each pattern.
    static func count(ofComplements patterns: [[UInt8]]) throws -> [Int] {
        let overlap = (patterns.map(\.count).max() ?? 1) - 1
        // The buffer is excluded from the search.
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: chunk + overlap, alignment: 4096)
        defer {
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            buffer.deallocate()
        }
        let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw CocoaError(.fileReadNoPermission) }
        defer { close(memory) }
        var counts = [Int](repeating: 0, count: patterns.count)
        let own = UInt(bitPattern: buffer.baseAddress)..<(UInt(bitPattern: buffer.baseAddress) + UInt(buffer.count))
        for region in try writableRegions().flatMap({ region in split(region, around: own) }) {
            var start = region.lowerBound
            while start < region.upperBound {
                let size = min(UInt(buffer.count), region.upperBound - start)
                let read = pread(memory, buffer.baseAddress, Int(size), off_t(Int(bitPattern: start)))
                guard read > 0 else {
                    // Another thread has unmapped this page; the next may still be there.
                    start += page
                    continue
                }
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<read])
                for (index, pattern) in patterns.enumerated() {
                    counts[index] += occurrences(of: pattern, in: bytes, startingBefore: chunk)
                }
                start += UInt(min(read, chunk))
            }
        }
        return counts
    }

    private static func occurrences(
        of complement: [UInt8],
        in bytes: UnsafeRawBufferPointer,
        startingBefore end: Int
    ) -> Int {
        guard let base = bytes.baseAddress, let first = complement.first else { return 0 }
        var count = 0
        var position = 0
        let last = min(end, bytes.count - complement.count + 1)
        while position < last, let hit = memchr(base + position, CInt(~first), last - position) {
            let found = UnsafeRawPointer(hit)
            position = found - base + 1
            var length = 1
            while length < complement.count,
                found.load(fromByteOffset: length, as: UInt8.self) == ~complement[length]
            {
                length += 1
            }
            if length == complement.count { count += 1 }
        }
        return count
    }

    private static func writableRegions() throws -> [Range<UInt>] {
        // A short read is not the end: the kernel returns a few lines at a time.
        let file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw CocoaError(.fileReadNoPermission) }
        defer { close(file) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(file, &part, part.count)
            guard count > 0 else { break }
            bytes += part[..<count]
        }
        let maps = String(decoding: bytes, as: UTF8.self)
        return maps.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", maxSplits: 2)
            guard fields.count > 1, fields[1].hasPrefix("rw") else { return nil }
            let ends = fields[0].split(separator: "-").compactMap { end in UInt(end, radix: 16) }
            return ends.count == 2 ? ends[0]..<ends[1] : nil
        }
    }

    private static func split(_ region: Range<UInt>, around hole: Range<UInt>) -> [Range<UInt>] {
        guard region.overlaps(hole) else { return [region] }
        return [
            region.lowerBound..<max(region.lowerBound, hole.lowerBound),
            min(region.upperBound, hole.upperBound)..<region.upperBound,
        ].filter { part in !part.isEmpty }
    }
}

import Glibc

/// Scans an object path in place, as every call needs it.
struct PathScanner {
    private var rest: UnsafeRawBufferPointer.SubSequence

    init(_ path: UnsafeRawBufferPointer) {
        rest = path[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Skips a text if it comes next.
    mutating func skip(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard rest.count >= count, memcmp(rest.base.baseAddress! + rest.startIndex, text.utf8Start, count) == 0 else {
            return false
        }
        rest = rest.dropFirst(count)
        return true
    }

    /// Returns the bytes up to the next slash or the end, and skips the slash.
    mutating func nextElement() -> UnsafeRawBufferPointer {
        let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        let element = UnsafeRawBufferPointer(rebasing: rest[rest.startIndex..<end])
        rest = end < rest.endIndex ? rest[(end + 1)...] : rest[end...]
        return element
    }
}

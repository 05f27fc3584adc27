import Glibc

/// Takes an object path apart, element by element, in place: paths are read in every call.
struct PathScanner {
    private var rest: UnsafeRawBufferPointer.SubSequence

    init(_ path: UnsafeRawBufferPointer) {
        rest = path[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Steps over a text if it is what comes next.
    mutating func skip(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard rest.count >= count, memcmp(rest.base.baseAddress! + rest.startIndex, text.utf8Start, count) == 0 else {
            return false
        }
        rest = rest.dropFirst(count)
        return true
    }

    /// The bytes up to the next slash or the end; the slash is stepped over.
    mutating func nextElement() -> UnsafeRawBufferPointer {
        let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        let element = UnsafeRawBufferPointer(rebasing: rest[rest.startIndex..<end])
        rest = end < rest.endIndex ? rest[(end + 1)...] : rest[end...]
        return element
    }
}

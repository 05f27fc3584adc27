/// Takes an object path apart, element by element, in place: paths are read in every call.
struct PathScanner {
    private var rest: UnsafeRawBufferPointer.SubSequence

    init(_ path: UnsafeRawBufferPointer) {
        rest = path[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Steps over a text if it is what comes next.
    mutating func skip(_ text: StaticString) -> Bool {
        let bytes = UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard rest.count >= bytes.count, rest.prefix(bytes.count).elementsEqual(bytes) else { return false }
        rest = rest.dropFirst(bytes.count)
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

import Glibc

/// Iterates over packed attributes without copying; stops at an incomplete pair, so malformed bytes only shorten it.
struct PackedPairs {
    struct Pair {
        let name: UnsafeRawBufferPointer

        let value: UnsafeRawBufferPointer

        /// Name, terminator and value.
        let both: UnsafeRawBufferPointer
    }

    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func next() -> Pair? {
        let start = position
        guard let nameEnd = terminator(from: start), let valueEnd = terminator(from: nameEnd + 1) else { return nil }
        position = valueEnd + 1
        return Pair(
            name: UnsafeRawBufferPointer(rebasing: bytes[start..<nameEnd]),
            value: UnsafeRawBufferPointer(rebasing: bytes[nameEnd + 1..<valueEnd]),
            both: UnsafeRawBufferPointer(rebasing: bytes[start..<valueEnd])
        )
    }

    /// Whether the bytes consist of pairs with strictly ascending names, in UTF-8.
    static func areCanonical(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var pairs = PackedPairs(bytes)
        var previous: UnsafeRawBufferPointer?
        while let pair = pairs.next() {
            if let previous, !precedes(previous, pair.name) { return false }
            previous = pair.name
        }
        guard pairs.position == bytes.count else { return false }
        return isASCII(bytes) || String(validating: bytes, as: UTF8.self) != nil
    }

    private static func precedes(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Bool {
        let order = compare(first, second)
        return order == 0 ? first.count < second.count : order < 0
    }

    /// Compares as many bytes as both have: negative if the first are smaller, positive if they are greater.
    static func compare(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int32 {
        guard let bytes = first.baseAddress, let others = second.baseAddress else { return 0 }
        return memcmp(bytes, others, min(first.count, second.count))
    }

    // All rows of a collection are checked, so the words are large.
    private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while position + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            guard word & 0x8080_8080_8080_8080 == 0 else { return false }
            position += 8
        }
        return bytes[position...].allSatisfy { byte in byte < 0x80 }
    }

    private func terminator(from start: Int) -> Int? {
        guard start < bytes.count, let base = bytes.baseAddress,
            let found = memchr(base + start, 0, bytes.count - start)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }
}

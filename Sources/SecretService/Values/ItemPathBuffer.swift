import KeychainModel

/// Spells the paths of a collection's items one after the other in the same bytes.
///
/// A search may have 100,000 hits, and making a string of each would cost more than everything else.
struct ItemPathBuffer {
    private static let mostDigits = 20

    private var bytes: [CChar]
    private let prefixCount: Int

    init(collection: CollectionName) {
        var prefixCount = 0
        let capacity = ItemPathBuffer.maximumByteCount(in: collection)
        bytes = [CChar](unsafeUninitializedCapacity: capacity) { buffer, count in
            buffer.initialize(repeating: 0)
            count = buffer.count
            for part in [SecretPath.base, "/collection/", collection.encoded, "/"] {
                for byte in part.utf8 {
                    buffer[prefixCount] = CChar(bitPattern: byte)
                    prefixCount += 1
                }
            }
        }
        self.prefixCount = prefixCount
    }

    /// The most bytes that a path takes in a message: with its length, its NUL, and padding.
    static func maximumByteCount(in collection: CollectionName) -> Int {
        SecretPath.base.utf8.count + collection.encoded.utf8.count + mostDigits + 24
    }

    /// Lends the path of an item, terminated by NUL.
    mutating func withPath(of id: ItemID, _ body: (UnsafePointer<CChar>) -> Void) {
        var digits = 1
        var rest = id.rawValue / 10
        while rest > 0 {
            digits += 1
            rest /= 10
        }
        bytes.withUnsafeMutableBufferPointer { bytes in
            var value = id.rawValue
            for position in stride(from: prefixCount + digits - 1, through: prefixCount, by: -1) {
                bytes[position] = CChar(UInt8(ascii: "0") + UInt8(value % 10))
                value /= 10
            }
            bytes[prefixCount + digits] = 0
            body(UnsafePointer(bytes.baseAddress!))
        }
    }
}

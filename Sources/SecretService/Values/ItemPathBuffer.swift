import KeychainModel

/// Spells the paths of a collection's items one after the other in the same bytes.
///
/// A search may have 100,000 hits, and making a string of each would cost more than everything else.
struct ItemPathBuffer {
    private static let mostDigits = 20

    private var bytes: [CChar]
    private let prefixCount: Int

    init(collection: CollectionName) {
        let prefix = "\(SecretPath.base)/collection/\(collection.encoded)/"
        bytes = prefix.utf8.map { CChar(bitPattern: $0) }
        prefixCount = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: ItemPathBuffer.mostDigits + 1))
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

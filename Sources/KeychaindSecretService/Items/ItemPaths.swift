import KeychaindDBus
import KeychaindModel

/// Paths of items, written without a string for each.
struct ItemPaths: WritableValue {
    private var groups: [(collection: CollectionName, ids: [ItemID])]

    init(_ ids: [ItemID], in collection: CollectionName) {
        groups = [(collection, ids)]
    }

    init() {
        groups = []
    }

    mutating func append(_ ids: [ItemID], in collection: CollectionName) {
        if !ids.isEmpty {
            groups.append((collection, ids))
        }
    }

    mutating func append(_ id: ItemID, in collection: CollectionName) {
        if groups.last?.collection == collection {
            groups[groups.count - 1].ids.append(id)
        } else {
            groups.append((collection, [id]))
        }
    }

    /// Maximum bytes of a path in a message.
    static func maximumByteCount(in collection: CollectionName) -> Int {
        ItemPathBuffer.maximumByteCount(in: collection)
    }

    static var signature: String { [ObjectPath].signature }

    func write(to writer: inout Writer) {
        writer.writeArray(of: ObjectPath.signature) { writer in
            for group in groups {
                var path = ItemPathBuffer(collection: group.collection)
                for id in group.ids {
                    path.withPath(of: id) { text, count in writer.writeObjectPath(text, count: count) }
                }
            }
        }
    }
}

/// A buffer that spells the paths of a collection's items, one at a time.
///
/// A search may have 100,000 hits; a string for each would cost more than the rest.
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

    /// Maximum bytes of a path in a message, including length, NUL and padding.
    static func maximumByteCount(in collection: CollectionName) -> Int {
        SecretPath.base.utf8.count + collection.encoded.utf8.count + mostDigits + 24
    }

    /// Calls the closure with the path of an item, terminated by NUL, and its length.
    mutating func withPath(of id: ItemID, _ body: (UnsafePointer<CChar>, Int) -> Void) {
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
            body(UnsafePointer(bytes.baseAddress!), prefixCount + digits)
        }
    }
}

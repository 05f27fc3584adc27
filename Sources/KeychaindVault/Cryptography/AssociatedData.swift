import KeychaindGcrypt
import KeychaindModel

/// The associated data of sealed bytes: they cannot be moved to another place or rolled back.
///
/// 41 bytes, big-endian: `KCHN`, 1 (4), collection (16), item (8), column (1), revision (8); then a suffix that depends
/// on the column.
struct AssociatedData {
    enum Column: UInt8 {
        case secret = 2

        /// The key in a key slot; the suffix is the slot's parameters.
        case slot = 4

        /// The secret of an item with an item key, under either key.
        case protectedSecret = 5

        /// An item key; the suffix is the header of its wrap.
        case itemKey = 6

        /// The ledger of protected items in `state`.
        case ledger = 7

        /// The rules of the user, in a file of their own.
        case rules = 8
    }

    // Later formats add columns; existing ones keep their meaning.
    private static let version: UInt32 = 1
    private static let columnOffset = 32
    private static let itemOffset = 24

    private var bytes: [UInt8]

    init(collection: [UInt8], column: Column) {
        bytes = Array("KCHN".utf8)
        bytes.append(bigEndian: Self.version)
        bytes += collection
        bytes.append(bigEndian: UInt64(0))
        bytes.append(column.rawValue)
        bytes.append(bigEndian: UInt64(0))
    }

    /// Sets the item, column and revision in place.
    mutating func set(item: UInt64, column: Column, revision: UInt64) {
        bytes.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: item.bigEndian, toByteOffset: Self.itemOffset, as: UInt64.self)
            bytes[Self.columnOffset] = column.rawValue
            bytes.storeBytes(of: revision.bigEndian, toByteOffset: Self.columnOffset + 1, as: UInt64.self)
        }
    }

    mutating func set(suffix: UnsafeRawBufferPointer) {
        bytes.removeLast(bytes.count - Self.fixedSize)
        bytes.append(contentsOf: suffix)
    }

    func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withRawBytes(body)
    }

    private static let fixedSize = columnOffset + 1 + 8
}

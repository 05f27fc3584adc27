import Gcrypt

/// What sealed bytes are bound to, so that none of them can be moved to another place or brought back from an earlier time.
///
/// 41 bytes, integers most significant byte first: `KCHN`, 1 (4), collection (16), item (8), column (1), revision (8); then
/// what else the column binds.
struct AssociatedData {
    /// The place in the file that the bytes are sealed for.
    enum Column: UInt8 {
        /// The label, attributes and times of an item; also binds the tags.
        case metadata = 1

        /// The secret of an item.
        case secret = 2

        /// The state of the collection.
        case state = 3

        /// The key in a key slot; also binds the slot's kind and parameters.
        case slot = 4

        /// The secret of an item that has a key of its own, under either key.
        case protectedSecret = 5

        /// The key of an item; also binds what it is wrapped to.
        case itemKey = 6

        /// The ledger of protected items, which lies in `state.db`.
        case ledger = 7
    }

    // Later formats add columns, and leave the meaning of what is bound as it is.
    private static let version: UInt32 = 1
    private static let columnOffset = 32
    private static let itemOffset = 24

    private var bytes: [UInt8]

    /// The associated data of a collection's own rows: item and revision are zero.
    init(collection: [UInt8], column: Column) {
        bytes = Array("KCHN".utf8)
        bytes.append(bigEndian: Self.version)
        bytes += collection
        bytes.append(bigEndian: UInt64(0))
        bytes.append(column.rawValue)
        bytes.append(bigEndian: UInt64(0))
    }

    /// Points at an item, in place: loading does this for every row.
    mutating func set(item: UInt64, column: Column, revision: UInt64) {
        bytes.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: item.bigEndian, toByteOffset: Self.itemOffset, as: UInt64.self)
            bytes[Self.columnOffset] = column.rawValue
            bytes.storeBytes(of: revision.bigEndian, toByteOffset: Self.columnOffset + 1, as: UInt64.self)
        }
    }

    /// Replaces what is bound beyond the fixed part.
    mutating func set(suffix: UnsafeRawBufferPointer) {
        bytes.removeLast(bytes.count - Self.fixedSize)
        bytes.append(contentsOf: suffix)
    }

    /// Gives the bytes to a closure.
    func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withRawBytes(body)
    }

    private static let fixedSize = columnOffset + 1 + 8
}

import KeychainModel

/// What a collection knows of itself, sealed with its items.
///
/// The plaintext, integers most significant byte first: next item number (8), revision (8), number of items (8), created (8),
/// modified (8), multiset hash (32), label. The label and the times lie in the clear beside it, for who looks at a locked
/// collection; the sealed ones count.
struct CollectionState: Equatable, Sendable {
    /// The number of the next new item; it only rises, so that no number is ever used again.
    var nextItem: UInt64 = 1

    /// The revision of the last change.
    var revision: UInt64 = 0

    /// How many items there are.
    var itemCount: UInt64 = 0

    /// When the collection was made.
    var created: Timestamp

    /// When the collection or an item of it was last changed.
    var modified: Timestamp

    /// The sum over all items.
    var hash = MultisetHash()

    /// The name for people.
    var label: String

    /// The plaintext of the sealed state.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: nextItem)
        bytes.append(bigEndian: revision)
        bytes.append(bigEndian: itemCount)
        bytes.append(bigEndian: created.microsecondsSinceEpoch)
        bytes.append(bigEndian: modified.microsecondsSinceEpoch)
        bytes += hash.bytes
        bytes += label.utf8
        return bytes
    }
}

extension CollectionState {
    /// Reads the plaintext of a sealed state; nil when it has another form.
    init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard let nextItem = reader.integer(UInt64.self), let revision = reader.integer(UInt64.self),
            let itemCount = reader.integer(UInt64.self), let created = reader.integer(Int64.self),
            let modified = reader.integer(Int64.self),
            let hash = reader.bytes(MultisetHash.size).flatMap(MultisetHash.init(bytes:))
        else { return nil }
        self.init(
            nextItem: nextItem,
            revision: revision,
            itemCount: itemCount,
            created: Timestamp(microsecondsSinceEpoch: created),
            modified: Timestamp(microsecondsSinceEpoch: modified),
            hash: hash,
            label: String(decoding: reader.remaining, as: UTF8.self)
        )
    }
}

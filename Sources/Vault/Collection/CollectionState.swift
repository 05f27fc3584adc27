import KeychainModel

/// The sealed state of a collection.
///
/// Plaintext, big-endian: next item ID (8), revision (8), number of items (8), created (8), modified (8), multiset hash
/// (32), label. Label and times are also stored in the clear, for a locked collection; the sealed ones are
/// authoritative.
struct CollectionState: Equatable, Sendable {
    /// The ID of the next new item; no ID is ever used again.
    var nextItem: UInt64 = 1

    /// The revision of the last change.
    var revision: UInt64 = 0

    /// The number of items.
    var itemCount: UInt64 = 0

    /// The creation time.
    var created: Timestamp

    /// The time of the last change of the collection or an item.
    var modified: Timestamp

    /// The multiset hash of all items.
    var hash = MultisetHash()

    /// The display name.
    var label: String

    /// The plaintext.
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
    /// Decodes the plaintext; nil when it is invalid.
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

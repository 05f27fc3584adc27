import KeychaindGcrypt
import KeychaindModel

/// The sealed state of a collection.
///
/// Plaintext, big-endian: next item ID (8), revision (8), number of items (8), created (8), modified (8), label, and
/// after a zero byte the last change of each vault (16 each). Label and times are also stored in the clear, for a
/// locked collection; the sealed ones are authoritative.
struct CollectionState: Equatable, Sendable {
    /// The ID of the next new item; no ID is ever used again.
    var nextItem: UInt64 = 1
    var revision: UInt64 = 0
    var itemCount: UInt64 = 0
    var created: Timestamp

    var modified: Timestamp
    var label: String
    var lastChanges = LastChanges()

    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(5 * 8 + label.utf8.count + lastChanges.encodedSize)
        bytes.append(bigEndian: nextItem)
        bytes.append(bigEndian: revision)
        bytes.append(bigEndian: itemCount)
        bytes.append(bigEndian: created.microsecondsSinceEpoch)
        bytes.append(bigEndian: modified.microsecondsSinceEpoch)
        bytes += label.utf8
        // A zero byte ends the label.
        if let end = bytes[(5 * 8)...].firstIndex(of: 0) { bytes.removeSubrange(end...) }
        lastChanges.encode(into: &bytes)
        return bytes
    }
}

extension CollectionState {
    init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = FieldReader(bytes)
        guard let nextItem = reader.integer(UInt64.self), let revision = reader.integer(UInt64.self),
            let itemCount = reader.integer(UInt64.self), let created = reader.integer(Int64.self),
            let modified = reader.integer(Int64.self)
        else { return nil }
        let label = reader.remaining.prefix { byte in byte != 0 }
        _ = reader.bytes(label.count)
        self.init(
            nextItem: nextItem,
            revision: revision,
            itemCount: itemCount,
            created: Timestamp(microsecondsSinceEpoch: created),
            modified: Timestamp(microsecondsSinceEpoch: modified),
            label: String(decoding: label, as: UTF8.self),
            lastChanges: LastChanges(decoding: reader.remaining)
        )
    }
}

extension CollectionState {
    /// A digest that no other state has.
    var fingerprint: [UInt8] {
        get throws(VaultError) {
            try cipher { () throws(GcryptError) in
                try HashFunction.sha256.digest(of: encoded)
            }
        }
    }
}

/// The public part of a stored state, in the open part of its record.
///
/// Big-endian: created (8), modified (8), fingerprint of the index key that made the tags (8), label.
struct OpenState {
    let created: Timestamp
    let modified: Timestamp
    let indexKey: [UInt8]
    let label: String

    static func encode(_ state: CollectionState, indexKey: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2 * 8 + indexKey.count + state.label.utf8.count)
        bytes.append(bigEndian: state.created.microsecondsSinceEpoch)
        bytes.append(bigEndian: state.modified.microsecondsSinceEpoch)
        bytes += indexKey
        bytes += state.label.utf8
        return bytes
    }

    init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = FieldReader(bytes)
        guard let created = reader.integer(Int64.self), let modified = reader.integer(Int64.self),
            let indexKey = reader.bytes(BlindIndexKey.fingerprintSize)
        else { return nil }
        self.created = Timestamp(microsecondsSinceEpoch: created)
        self.modified = Timestamp(microsecondsSinceEpoch: modified)
        self.indexKey = Array(indexKey)
        label = String(decoding: reader.remaining, as: UTF8.self)
    }
}

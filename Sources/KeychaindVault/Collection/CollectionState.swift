import KeychaindGcrypt
import KeychaindModel

/// The sealed state of a collection.
///
/// Plaintext, big-endian: next item ID (8), revision (8), number of items (8), created (8), modified (8), multiset hash
/// (32), label, and after a zero byte the last change of each vault (16 each). Label and times are also stored in the
/// clear, for a locked collection; the sealed ones are authoritative.
struct CollectionState: Equatable, Sendable {
    /// The ID of the next new item; no ID is ever used again.
    var nextItem: UInt64 = 1
    var revision: UInt64 = 0
    var itemCount: UInt64 = 0
    var created: Timestamp

    var modified: Timestamp
    var hash = MultisetHash()
    var label: String
    var lastChanges = LastChanges()

    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(5 * 8 + MultisetHash.size + label.utf8.count + lastChanges.encodedSize)
        bytes.append(bigEndian: nextItem)
        bytes.append(bigEndian: revision)
        bytes.append(bigEndian: itemCount)
        bytes.append(bigEndian: created.microsecondsSinceEpoch)
        bytes.append(bigEndian: modified.microsecondsSinceEpoch)
        bytes += hash.bytes
        bytes += label.utf8.prefix { byte in byte != 0 }
        lastChanges.encode(into: &bytes)
        return bytes
    }
}

extension CollectionState {
    init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard let nextItem = reader.integer(UInt64.self), let revision = reader.integer(UInt64.self),
            let itemCount = reader.integer(UInt64.self), let created = reader.integer(Int64.self),
            let modified = reader.integer(Int64.self),
            let hash = reader.bytes(MultisetHash.size).flatMap(MultisetHash.init(bytes:))
        else { return nil }
        let label = reader.remaining.prefix { byte in byte != 0 }
        _ = reader.bytes(label.count)
        self.init(
            nextItem: nextItem,
            revision: revision,
            itemCount: itemCount,
            created: Timestamp(microsecondsSinceEpoch: created),
            modified: Timestamp(microsecondsSinceEpoch: modified),
            hash: hash,
            label: String(decoding: label, as: UTF8.self),
            lastChanges: LastChanges(decoding: reader.remaining)
        )
    }
}

extension CollectionKeys {
    func seal(_ state: CollectionState) throws(VaultError) -> [UInt8] {
        try cipher { () throws(GcryptError) in
            try seal(state.encoded, for: AssociatedData(collection: collection, column: .state))
        }
    }

    /// Opens the state of the collection; nil when it is damaged or sealed with other keys.
    func openState(_ sealed: [UInt8]) throws(VaultError) -> CollectionState? {
        do throws(GcryptError) {
            let plaintext = try open(sealed, for: AssociatedData(collection: collection, column: .state))
            return plaintext.withUnsafeBytes { bytes in CollectionState(decoding: bytes) }
        } catch {
            if error.code == .authenticationFailed { return nil }
            throw VaultError(error)
        }
    }
}

import KeychaindGcrypt
import KeychaindModel

/// The metadata of an item, sealed as one blob.
///
/// Plaintext, big-endian: revision of the secret (8) with the highest bit set for an item key, created (8), modified
/// (8), length of the label (4), label, with that bit the length of the wraps (4) and ``ItemKeyWraps``, packed
/// attributes.
struct ItemMetadata: Equatable, Sendable {
    private static let ownKeyBit: UInt64 = 1 << 63

    /// The revision at which the secret was sealed; a change of the label keeps it.
    var secretRevision: UInt64
    var created: Timestamp
    var modified: Timestamp
    var label: String
    var attributes: Attributes

    /// The wrapped item key; nil when the secrets key alone opens the secret.
    var wraps: ItemKeyWraps?

    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        let label = label.utf8
        bytes.reserveCapacity(32 + label.count + attributes.packed.count + (wraps?.encoded.count ?? 0))
        bytes.append(bigEndian: wraps == nil ? secretRevision : secretRevision | Self.ownKeyBit)
        bytes.append(bigEndian: created.microsecondsSinceEpoch)
        bytes.append(bigEndian: modified.microsecondsSinceEpoch)
        bytes.append(bigEndian: UInt32(clamping: label.count))
        bytes += label
        if let wraps {
            bytes.append(bigEndian: UInt32(clamping: wraps.encoded.count))
            bytes += wraps.encoded
        }
        bytes += attributes.packed
        return bytes
    }
}

extension ItemMetadata {
    init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard let secretRevision = reader.integer(UInt64.self), let created = reader.integer(Int64.self),
            let modified = reader.integer(Int64.self), let labelLength = reader.integer(UInt32.self),
            let label = reader.bytes(Int(labelLength))
        else { return nil }
        var wraps: ItemKeyWraps?
        if secretRevision & Self.ownKeyBit != 0 {
            wraps = reader.integer(UInt32.self).flatMap { length in reader.bytes(Int(length)) }
                .flatMap(ItemKeyWraps.init(decoding:))
            guard wraps != nil else { return nil }
        }
        guard let attributes = Attributes(validating: reader.remaining) else { return nil }
        self.init(
            secretRevision: secretRevision & ~Self.ownKeyBit,
            created: Timestamp(microsecondsSinceEpoch: created),
            modified: Timestamp(microsecondsSinceEpoch: modified),
            label: String(decoding: label, as: UTF8.self),
            attributes: attributes,
            wraps: wraps
        )
    }
}

extension CollectionKeys {
    func seal(
        _ metadata: ItemMetadata,
        of item: ItemID,
        revision: UInt64,
        tags: [UInt8]
    ) throws(GcryptError) -> [UInt8] {
        try seal(
            metadata.encoded,
            for: AssociatedData(metadataOf: item, revision: revision, tags: tags, collection: collection)
        )
    }
}

import KeychaindLog
import KeychaindModel

/// An item as it is stored: in the open part its revision (8) and its blind tags (8 each), then the sealed metadata and
/// the sealed secret.
enum ItemContent {
    static func encode(
        revision: UInt64,
        tags: [UInt64],
        _ metadata: ItemMetadata,
        secret: [UInt8]
    ) -> RecordContent {
        RecordContent(open: open(revision: revision, tags: tags), metadata: metadata.encoded, secret: secret)
    }

    static func open(revision: UInt64, tags: [UInt64]) -> [UInt8] {
        var open: [UInt8] = []
        open.reserveCapacity(8 + 8 * tags.count)
        open.append(bigEndian: revision)
        for tag in tags { open.append(bigEndian: tag) }
        return open
    }

    /// The revision, and the bytes of the tags.
    static func decode(open: UnsafeRawBufferPointer) -> (revision: UInt64, tags: StoredTags) {
        var reader = FieldReader(open)
        let revision = reader.integer(UInt64.self) ?? 0
        return (revision, StoredTags(reader.remaining))
    }
}

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

    /// The wrapped item key; nil when the secrets key alone opens the secret.
    var wraps: ItemKeyWraps?

    // Label and attributes share an allocation, since a table has many of them.
    private var text: [UInt8]
    private var labelBytes: UInt32

    init(
        secretRevision: UInt64,
        created: Timestamp,
        modified: Timestamp,
        label: String,
        attributes: Attributes,
        wraps: ItemKeyWraps? = nil
    ) {
        self.secretRevision = secretRevision
        self.created = created
        self.modified = modified
        self.wraps = wraps
        text = Array(label.utf8) + attributes.packed
        labelBytes = UInt32(label.utf8.count)
    }

    private var labelCount: Int { Int(labelBytes) }

    var label: String {
        get { String(decoding: text[..<labelCount], as: UTF8.self) }
        set {
            text.replaceSubrange(..<labelCount, with: newValue.utf8)
            labelBytes = UInt32(newValue.utf8.count)
        }
    }

    var attributes: Attributes {
        get { Attributes(canonical: text, from: labelCount) }
        set { text.replaceSubrange(labelCount..., with: newValue.packed) }
    }

    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32 + text.count + (wraps?.encoded.count ?? 0))
        bytes.append(bigEndian: wraps == nil ? secretRevision : secretRevision | Self.ownKeyBit)
        bytes.append(bigEndian: created.microsecondsSinceEpoch)
        bytes.append(bigEndian: modified.microsecondsSinceEpoch)
        bytes.append(bigEndian: labelBytes)
        bytes += text[..<labelCount]
        if let wraps {
            bytes.append(bigEndian: UInt32(clamping: wraps.encoded.count))
            bytes += wraps.encoded
        }
        bytes += text[labelCount...]
        return bytes
    }
}

extension ItemMetadata {
    private static let fixedSize = 8 + 8 + 8 + 4

    init?(decoding bytes: UnsafeRawBufferPointer) {
        self = .unknown
        guard decode(bytes) else { return nil }
    }

    /// Unknown metadata, with the memory for those of this many bytes.
    init(reserving bytes: Int) {
        self = .unknown
        text = [UInt8](repeating: 0, count: max(0, bytes - Self.fixedSize))
    }

    /// Takes encoded metadata over, without allocating if memory was reserved for them; false for an invalid encoding.
    mutating func decode(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var reader = ByteReader(bytes)
        guard let secretRevision = reader.integer(UInt64.self), let created = reader.integer(Int64.self),
            let modified = reader.integer(Int64.self), let labelLength = reader.integer(UInt32.self),
            let label = reader.bytes(Int(labelLength))
        else { return false }
        var wraps: ItemKeyWraps?
        if secretRevision & Self.ownKeyBit != 0 {
            wraps = reader.integer(UInt32.self).flatMap { length in reader.bytes(Int(length)) }
                .flatMap(ItemKeyWraps.init(decoding:))
            guard wraps != nil else { return false }
        }
        guard Attributes.areCanonical(reader.remaining) else { return false }
        self.secretRevision = secretRevision & ~Self.ownKeyBit
        self.created = Timestamp(microsecondsSinceEpoch: created)
        self.modified = Timestamp(microsecondsSinceEpoch: modified)
        self.wraps = wraps
        let count = label.count + reader.remaining.count
        if text.count != count { text = [UInt8](repeating: 0, count: count) }
        text.withUnsafeMutableBytes { text in
            UnsafeMutableRawBufferPointer(rebasing: text[..<label.count]).copyMemory(from: label)
            UnsafeMutableRawBufferPointer(rebasing: text[label.count...]).copyMemory(from: reader.remaining)
        }
        labelBytes = labelLength
        return true
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

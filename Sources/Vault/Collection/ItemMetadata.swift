import KeychainModel

/// What is known of an item once its collection has been unlocked, apart from the secret: one sealed blob.
///
/// The plaintext, integers most significant byte first: revision of the secret (8), created (8), modified (8), length of the label
/// (4), label, packed attributes.
struct ItemMetadata: Equatable, Sendable {
    /// The revision that the secret was sealed at: a change of the label leaves the secret as it is.
    var secretRevision: UInt64

    /// When the item was made.
    var created: Timestamp

    /// When the item was last changed.
    var modified: Timestamp

    /// The name for people.
    var label: String

    /// The lookup attributes.
    var attributes: Attributes

    /// The plaintext of the blob.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        let label = label.utf8
        bytes.reserveCapacity(28 + label.count + attributes.packed.count)
        bytes.append(bigEndian: secretRevision)
        bytes.append(bigEndian: created.microsecondsSinceEpoch)
        bytes.append(bigEndian: modified.microsecondsSinceEpoch)
        bytes.append(bigEndian: UInt32(clamping: label.count))
        bytes += label
        bytes += attributes.packed
        return bytes
    }
}

extension ItemMetadata {
    /// Reads the plaintext of a blob; nil when it has another form.
    init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard let secretRevision = reader.integer(UInt64.self), let created = reader.integer(Int64.self),
            let modified = reader.integer(Int64.self), let labelLength = reader.integer(UInt32.self),
            let label = reader.bytes(Int(labelLength)), let attributes = Attributes(validating: reader.remaining)
        else { return nil }
        self.init(
            secretRevision: secretRevision,
            created: Timestamp(microsecondsSinceEpoch: created),
            modified: Timestamp(microsecondsSinceEpoch: modified),
            label: String(decoding: label, as: UTF8.self),
            attributes: attributes
        )
    }
}

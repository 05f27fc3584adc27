import KeychainModel

/// The note of a key slot: creation time and label, readable without a key.
///
/// At the end of the slot's parameters: time (8), label in UTF-8. The first password of a collection has none.
struct KeySlotNote: Equatable, Sendable {
    /// The time of creation or of the last change of its key.
    var made: Timestamp

    /// The label; may be empty.
    var label: String

    init(made: Timestamp, label: String) {
        self.made = made
        self.label = label
    }

    /// Decodes a note; nil when the size is wrong.
    init?(decoding bytes: some Swift.Collection<UInt8>) {
        guard (Self.minimumSize...Self.minimumSize + Self.labelBytes).contains(bytes.count) else { return nil }
        let time = bytes.prefix(Self.minimumSize).reduce(UInt64(0)) { value, byte in value << 8 | UInt64(byte) }
        made = Timestamp(microsecondsSinceEpoch: Int64(bitPattern: time))
        label = String(decoding: bytes.dropFirst(Self.minimumSize), as: UTF8.self)
    }

    /// The encoding.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: made.microsecondsSinceEpoch)
        return bytes + Array(label.utf8)
    }

    /// The most bytes of a label.
    static let labelBytes = 256

    private static let minimumSize = 8
}

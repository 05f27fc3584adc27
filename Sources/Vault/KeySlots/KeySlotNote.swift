import KeychainModel

/// What a key slot tells of itself to who has no key: when it was made, and what a person called it.
///
/// It stands at the end of the slot's parameters: time (8), label in UTF-8. The password that a collection was made with has none.
struct KeySlotNote: Equatable, Sendable {
    /// When the slot was made, or last got another key.
    var made: Timestamp

    /// For what, or for whom; may be empty.
    var label: String

    /// Creates a note.
    init(made: Timestamp, label: String) {
        self.made = made
        self.label = label
    }

    /// Reads the encoded form; nil when it is too short or too long.
    init?(decoding bytes: some Swift.Collection<UInt8>) {
        guard (Self.minimumSize...Self.minimumSize + Self.labelBytes).contains(bytes.count) else { return nil }
        let time = bytes.prefix(Self.minimumSize).reduce(UInt64(0)) { value, byte in value << 8 | UInt64(byte) }
        made = Timestamp(microsecondsSinceEpoch: Int64(bitPattern: time))
        label = String(decoding: bytes.dropFirst(Self.minimumSize), as: UTF8.self)
    }

    /// The encoded form.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: made.microsecondsSinceEpoch)
        return bytes + Array(label.utf8)
    }

    /// The longest label, in bytes.
    static let labelBytes = 256

    private static let minimumSize = 8
}

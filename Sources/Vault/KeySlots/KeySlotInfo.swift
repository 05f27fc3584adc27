package import KeychainModel

/// What can be told of a key slot without opening it.
package struct KeySlotInfo: Equatable, Sendable {
    /// What opens a slot.
    package enum Kind: String, Sendable {
        /// A password.
        case password

        /// The passcode, where that is the password of another collection; it opens only what asks for the passcode.
        case passcode

        /// A recovery key, which a person has on paper.
        case recoveryKey

        /// The machine, by a key that never leaves it.
        case host

        /// Something that this version does not know.
        case unknown
    }

    /// The number of the slot in its collection; it is no other's while the slot is there.
    package let number: Int64

    /// What opens it.
    package let kind: Kind

    /// When it was made, or last got another key; nil when that is not known.
    package let made: Timestamp?

    /// For what, or for whom, in a person's words; may be empty.
    package let label: String

    /// Says what is known of a slot.
    package init(number: Int64, kind: Kind, made: Timestamp?, label: String) {
        self.number = number
        self.kind = kind
        self.made = made
        self.label = label
    }
}

extension KeySlotInfo {
    /// Reads what a slot says; the first password is as old as its collection.
    init(_ slot: KeySlot, in header: CollectionHeader) {
        let note = slot.note
        let (kind, made): (Kind, Timestamp?) =
            switch KeySlot.Kind(rawValue: slot.kind) {
            case .password: (.password, note?.made ?? header.created)
            case .passcode: (.passcode, nil)
            case .recoveryKey: (.recoveryKey, note?.made)
            case .host: (.host, note?.made)
            case nil: (.unknown, nil)
            }
        self.init(number: slot.id, kind: kind, made: made, label: note?.label ?? "")
    }
}

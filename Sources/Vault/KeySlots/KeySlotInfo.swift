package import KeychainModel

/// The public part of a key slot, readable without a key.
package struct KeySlotInfo: Equatable, Sendable {
    /// The kind of key that opens a slot.
    package enum Kind: String, Sendable {
        /// A password.
        case password

        /// The passcode of another collection; opens protected items only.
        case passcode

        /// A recovery key, kept on paper.
        case recoveryKey

        /// This machine, with a key that never leaves it.
        case host

        /// A kind that this version does not know.
        case unknown
    }

    /// The number of the slot, unique in its collection.
    package let number: Int64

    /// The kind of key that opens it.
    package let kind: Kind

    /// The time of creation or of the last change of its key, if known.
    package let made: Timestamp?

    /// The label; may be empty.
    package let label: String

    /// Creates the description of a slot.
    package init(number: Int64, kind: Kind, made: Timestamp?, label: String) {
        self.number = number
        self.kind = kind
        self.made = made
        self.label = label
    }
}

extension KeySlotInfo {
    /// Describes a stored slot; the first password is as old as its collection.
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

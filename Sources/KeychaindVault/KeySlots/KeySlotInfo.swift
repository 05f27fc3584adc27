package import KeychaindModel

/// The public part of a key slot, readable without a key.
package struct KeySlotInfo: Equatable, Sendable {
    package enum Kind: String, Sendable {
        case password

        case recoveryKey

        case host

        case securityKey

        /// The unlocked `login`.
        case login

        case unknown
    }

    package let number: Int64

    package let kind: Kind

    /// The time of creation or of the last change of its key, if known.
    package let made: Timestamp?

    package let label: String

    package init(number: Int64, kind: Kind, made: Timestamp?, label: String) {
        self.number = number
        self.kind = kind
        self.made = made
        self.label = label
    }
}

extension KeySlotInfo {
    /// The first password is as old as its collection.
    init(_ slot: KeySlot, in header: CollectionHeader) {
        let note = slot.note
        let (kind, made): (Kind, Timestamp?) =
            switch KeySlot.Kind(rawValue: slot.kind) {
            case .password: (.password, note?.made ?? header.created)
            case .recoveryKey: (.recoveryKey, note?.made)
            case .host: (.host, note?.made)
            case .securityKey: (.securityKey, note?.made)
            case .login: (.login, note?.made)
            case nil: (.unknown, nil)
            }
        self.init(number: slot.id, kind: kind, made: made, label: note?.label ?? "")
    }
}

import Gcrypt

/// What a collection is to be unlocked with.
enum UnlockKey: Sendable {
    /// A password, or a recovery key as a person has typed it.
    case text(Handoff<SecureBytes>)

    /// This machine.
    case host(any HostSealer)

    /// The keys themselves, which another process has left.
    case keys(UnlockedKeys)

    /// Opens the first key slot that it fits; nil when it fits none.
    func open(_ header: CollectionHeader) throws(VaultError) -> OpenedSlot? {
        switch self {
        case .keys: return nil
        case .text(let text):
            guard let text = text.take() else { throw Collection.closed }
            return try header.open(with: text)
        case .host(let sealer):
            return try header.open { (slot) throws(VaultError) in
                try HostSlot.open(slot, by: sealer, collection: header.identifier)
            }
        }
    }
}

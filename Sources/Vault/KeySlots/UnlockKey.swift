import Gcrypt

/// The key that unlocks a collection.
enum UnlockKey: Sendable {
    /// A password, or a recovery key as typed.
    case text(Handoff<SecureBytes>)

    /// This machine.
    case host(any HostSealer)

    /// Keys from a handover.
    case keys(UnlockedKeys)

    /// Opens the first matching slot; nil when there is none.
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

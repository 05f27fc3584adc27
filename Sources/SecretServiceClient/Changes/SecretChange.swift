/// Something that has changed at the provider, whoever changed it.
public enum SecretChange: Hashable, Sendable {
    /// A collection was made.
    case collectionCreated(SecretCollection)
    /// A collection was locked, unlocked or renamed, or something in it has changed.
    case collectionChanged(SecretCollection)
    /// A collection was deleted, and its items with it.
    case collectionDeleted(SecretCollection)
    /// An item was made.
    case itemCreated(SecretItem)
    /// An item was locked, unlocked or changed.
    case itemChanged(SecretItem)
    /// An item was deleted.
    case itemDeleted(SecretItem)
    /// Another provider has taken over, or the same one has started anew: everything may be different.
    case providerChanged
    /// More has changed than was taken from the sequence: everything may be different.
    case missed
}

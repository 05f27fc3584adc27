/// A reference to an item of the keychain.
public final class SecKeychainItem: Hashable, Sendable {
    let reference: PersistentReference

    init(_ reference: PersistentReference) {
        self.reference = reference
    }

    /// Whether both refer to the same item.
    public static func == (left: SecKeychainItem, right: SecKeychainItem) -> Bool {
        left.reference == right.reference
    }

    /// Feeds what it refers to.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(reference)
    }
}

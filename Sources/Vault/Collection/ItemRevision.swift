package import KeychainModel

/// One state of an item: each change of it makes another.
///
/// What was decided about an item holds for the state that was looked at, and for no later one.
package struct ItemRevision: Hashable, Sendable {
    /// The item.
    package let item: ItemID

    /// The revision of its last change.
    let number: UInt64

    /// The revision of its secret, which a change of the label leaves as it is.
    let secret: UInt64
}

extension Collection {
    /// The state that an item is in now; nil when there is none.
    package func revision(of id: ItemID) -> ItemRevision? {
        guard !isDeleted, let record = table[id] else { return nil }
        return ItemRevision(item: id, number: record.revision, secret: record.metadata.secretRevision)
    }

    /// Whether the secret of an item is still the one of a state.
    package func hasSecret(of revision: ItemRevision) -> Bool {
        self.revision(of: revision.item)?.secret == revision.secret
    }
}

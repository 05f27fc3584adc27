package import KeychainModel

/// A revision of an item.
///
/// A decision about an item holds only for the revision it was made for.
package struct ItemRevision: Hashable, Sendable {
    /// The ID of the item.
    package let item: ItemID

    /// The revision of its last change.
    let number: UInt64

    /// The revision of its secret.
    let secret: UInt64
}

extension Collection {
    /// Returns the current revision of an item; nil when there is none.
    package func revision(of id: ItemID) -> ItemRevision? {
        guard !isDeleted, let record = table[id] else { return nil }
        return ItemRevision(item: id, number: record.revision, secret: record.metadata.secretRevision)
    }

    /// Whether an item still has the secret of a revision.
    package func hasSecret(of revision: ItemRevision) -> Bool {
        self.revision(of: revision.item)?.secret == revision.secret
    }
}

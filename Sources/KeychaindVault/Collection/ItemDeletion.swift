package import KeychaindModel

/// The deletion of one item.
package struct ItemDeletion: Sendable {
    let id: ItemID

    let isAuthenticated: Bool

    /// The revision that the authentication was for; nil for any.
    let revision: ItemRevision?

    package init(of id: ItemID, authenticated isAuthenticated: Bool = false, at revision: ItemRevision? = nil) {
        self.id = id
        self.isAuthenticated = isAuthenticated
        self.revision = revision
    }
}

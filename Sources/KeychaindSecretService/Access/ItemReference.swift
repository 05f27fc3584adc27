import KeychaindModel
import KeychaindVault

/// Identifies an item of any keychain.
struct ItemReference: Hashable, Sendable {
    let collection: CollectionName
    let id: ItemID

    init(_ id: ItemID, in collection: Collection) {
        self.collection = collection.name
        self.id = id
    }
}

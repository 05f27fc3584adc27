import KeychainModel
import Vault

/// Names an item of any keychain, as grants and prompts do.
struct ItemReference: Hashable, Sendable {
    let collection: CollectionName
    let id: ItemID

    init(_ id: ItemID, in collection: Collection) {
        self.collection = collection.name
        self.id = id
    }
}

import DBus
import KeychainModel
import Vault

/// What a search over all collections has found.
struct SearchHits {
    private(set) var unlocked = ItemPaths()
    private(set) var locked = ItemPaths()

    /// How many bytes the hits take in a message, at most.
    var byteCount: Int { unlocked.byteCount + locked.byteCount }

    /// Adds the hits of a collection, in their order.
    mutating func add(_ ids: [ItemID], in collection: Collection) {
        guard !collection.isLocked else { return locked.append(ids, in: collection.name) }
        // Only where the file has a problem can there be items that stay locked in an unlocked collection.
        guard collection.problem != nil else { return unlocked.append(ids, in: collection.name) }
        let isLocked = { id in collection.item(id).map(collection.isLocked) ?? true }
        unlocked.append(ids.filter { !isLocked($0) }, in: collection.name)
        locked.append(ids.filter(isLocked), in: collection.name)
    }
}

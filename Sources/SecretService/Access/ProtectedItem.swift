import KeychainModel
import Vault

/// An item that a caller has to authenticate for.
struct ProtectedItem {
    let id: ItemID
    let collection: Collection
    let policy: Policy

    var reference: ItemReference { ItemReference(id, in: collection) }

    /// Whether it can be opened only by a key that an authentication gives.
    var isSealed: Bool { collection.needsItemKey(id) }

    /// The name for people; empty if it has none.
    var label: String { collection.item(id)?.label ?? "" }

    /// What it was bound to when it was stored, if its policy asks for the fingers enrolled then.
    var biometryBinding: String? { collection.item(id)?.attributes[BiometryBinding.attribute] }
}

import Authentication
import DBus
import KeychainModel
import Vault

/// An item that a caller has to authenticate for.
struct ProtectedItem {
    let id: ItemID
    let collection: Collection
    let policy: Policy
    /// Its state when this was made; nil if there is no such item.
    let revision: ItemRevision?

    init(id: ItemID, collection: Collection, policy: Policy) {
        self.id = id
        self.collection = collection
        self.policy = policy
        revision = collection.revision(of: id)
    }

    /// The item in the state that it is in now.
    var current: ProtectedItem { ProtectedItem(id: id, collection: collection, policy: policy) }

    var reference: ItemReference { ItemReference(id, in: collection) }

    /// Whether it can be opened only by a key that an authentication gives.
    var isSealed: Bool { collection.needsItemKey(id) }

    /// The name for people; empty if it has none.
    var label: String { collection.item(id)?.label ?? "" }

    /// What it was bound to when it was stored, if its policy asks for the fingers enrolled then.
    var biometryBinding: String? { collection.item(id)?.attributes[BiometryBinding.attribute] }

    /// What it asks for; it takes the fingers that are enrolled now for `biometryCurrentSet` if it is bound to them.
    @BusActor
    func requirement(with biometry: any Biometry, in vault: Vault) async -> Requirement {
        guard policy.factors.contains(.biometryCurrentSet), let binding = biometryBinding,
            let set = await biometry.availability().set, BiometryBinding.isBound(binding, to: set, in: vault)
        else { return Requirement(policy: policy) }
        return Requirement(policy: policy, boundSet: set)
    }
}

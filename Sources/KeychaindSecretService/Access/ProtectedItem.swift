import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// An item that requires an authentication.
struct ProtectedItem {
    let id: ItemID
    let collection: Collection
    let policy: Policy
    /// The state when this value was created; nil if the item does not exist.
    let revision: ItemRevision?

    init(id: ItemID, collection: Collection, policy: Policy) {
        self.id = id
        self.collection = collection
        self.policy = policy
        revision = collection.revision(of: id)
    }

    /// The item in its present state.
    var current: ProtectedItem { ProtectedItem(id: id, collection: collection, policy: policy) }

    var reference: ItemReference { ItemReference(id, in: collection) }

    /// Whether only a key from an authentication opens the item.
    var isSealed: Bool { collection.needsItemKey(id) }

    /// The label; empty if there is none.
    var label: String { collection.item(id)?.label ?? "" }

    /// The name in a dialog.
    var name: ItemName {
        guard let item = collection.item(id) else { return ItemName(label: "") }
        let described = KeychainItem(item.attributes, label: item.label)
        let isKey = described.itemClass == .key && described[.keyClass] == .text(KeyClass.private.code)
        return ItemName(label: item.label, isKey: isKey)
    }

    /// The code of the fingers enrolled when the item was stored, if its policy requires them.
    var biometryBinding: String? { collection.item(id)?.attributes[BiometryBinding.attribute] }

    /// The requirement; the enrolled fingers satisfy `biometryCurrentSet` if the item is bound to them.
    @BusActor
    func requirement(with biometry: any Biometry, in vault: Vault) async -> Requirement {
        guard policy.factors.contains(.biometryCurrentSet), let binding = biometryBinding,
            let set = await biometry.availability().set, BiometryBinding.isBound(binding, to: set, in: vault)
        else { return Requirement(policy: policy) }
        return Requirement(policy: policy, boundSet: set)
    }
}

extension [ProtectedItem] {
    /// The labels of the items' keychains, each once.
    var keychainLabels: [String] {
        reduce(into: []) { labels, item in
            if !labels.contains(item.collection.label) { labels.append(item.collection.label) }
        }
    }
}

/// Identifies an item of any keychain.
struct ItemReference: Hashable, Sendable {
    let collection: CollectionName
    let id: ItemID

    init(_ id: ItemID, in collection: Collection) {
        self.collection = collection.name
        self.id = id
    }
}

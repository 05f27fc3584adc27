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

/// Names an item of any keychain, as grants and prompts do.
struct ItemReference: Hashable, Sendable {
    let collection: CollectionName
    let id: ItemID

    init(_ id: ItemID, in collection: Collection) {
        self.collection = collection.name
        self.id = id
    }
}

/// Protected items that one answer of a person can serve.
struct ItemGroup {
    /// What items must have in common for that.
    private struct Key: Hashable {
        let policy: Policy
        /// The collection whose own password stands for the passcode, unless that of `login` does.
        let collection: CollectionName?
        /// An application password is one item's alone.
        let item: ItemReference?
        /// The enrolled fingers that they are bound to.
        let binding: String?
    }

    let policy: Policy
    private(set) var items: [ProtectedItem]

    /// The same items in the state that they are in now.
    var current: ItemGroup { ItemGroup(policy: policy, items: items.map(\.current)) }

    /// Sorts items into groups, in the order in which they are first met, each of as many as one dialog can name.
    static func groups(of items: [ProtectedItem], in vault: Vault) -> [ItemGroup] {
        var groups: [ItemGroup] = []
        var positions: [Key: Int] = [:]
        for item in items {
            let key = key(of: item, in: vault)
            if let position = positions[key] {
                groups[position].items.append(item)
            } else {
                positions[key] = groups.count
                groups.append(ItemGroup(policy: item.policy, items: [item]))
            }
        }
        return groups.flatMap { group in
            ItemNames.parts(of: group.items, label: \.label).map { ItemGroup(policy: group.policy, items: $0) }
        }
    }

    private static func key(of item: ProtectedItem, in vault: Vault) -> Key {
        let factors = item.policy.factors
        let hasOwnPasscode =
            item.isSealed && factors.contains(.passcode) && !vault.passcodeOpens(item.id, in: item.collection)
        return Key(
            policy: item.policy,
            collection: hasOwnPasscode ? item.collection.name : nil,
            item: factors.contains(.applicationPassword) ? item.reference : nil,
            binding: factors.contains(.biometryCurrentSet) ? item.biometryBinding : nil
        )
    }

    /// The collection whose own password stands for the passcode; nil if that of `login` does.
    func passcodeCollection(in vault: Vault) -> Collection? {
        guard let item = items.first(where: \.isSealed), !vault.passcodeOpens(item.id, in: item.collection) else {
            return nil
        }
        return item.collection
    }
}

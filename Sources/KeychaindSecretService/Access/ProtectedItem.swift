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

/// Protected items that one proof opens.
struct ItemGroup {
    private struct Key: Hashable {
        let policy: Policy
        /// The collection whose own password serves as the passcode; nil for `login`.
        let collection: CollectionName?
        /// The item itself for an application password, which opens no other.
        let item: ItemReference?
        /// The enrolled fingers that the items are bound to.
        let binding: String?
    }

    let policy: Policy
    private(set) var items: [ProtectedItem]

    /// The group with its items in their present state.
    var current: ItemGroup { ItemGroup(policy: policy, items: items.map(\.current)) }

    /// The group in parts that one dialog can name.
    var parts: some Sequence<ItemGroup> {
        ItemNames.parts(of: items, name: \.name).lazy.map { ItemGroup(policy: policy, items: $0) }
    }

    /// Groups matching items in order of first appearance, and lets others in between.
    @BusActor
    static func groups(
        of items: [ProtectedItem],
        where isMeant: (ProtectedItem) -> Bool,
        in vault: Vault,
        _ slice: inout TimeSlice
    ) async -> [ItemGroup] {
        var groups: [ItemGroup] = []
        var positions: [Key: Int] = [:]
        for item in items {
            await slice.yieldIfOver()
            guard isMeant(item) else { continue }
            let key = key(of: item, in: vault)
            if let position = positions[key] {
                groups[position].items.append(item)
            } else {
                positions[key] = groups.count
                groups.append(ItemGroup(policy: item.policy, items: [item]))
            }
        }
        return groups
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

    /// The collection whose own password serves as the passcode; nil for `login`.
    func passcodeCollection(in vault: Vault) -> Collection? {
        guard let item = items.first(where: \.isSealed), !vault.passcodeOpens(item.id, in: item.collection) else {
            return nil
        }
        return item.collection
    }
}

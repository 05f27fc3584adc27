import KeychainModel
import Vault

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

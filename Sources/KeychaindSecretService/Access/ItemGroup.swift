import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindVault

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

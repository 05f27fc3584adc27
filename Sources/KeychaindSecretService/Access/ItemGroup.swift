import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// Protected items that one proof opens.
struct ItemGroup {
    private struct Key: Hashable {
        let policy: Policy
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

    /// Groups matching items in order of first appearance.
    @BusActor
    static func groups(of items: [ProtectedItem], where isMeant: (ProtectedItem) -> Bool) -> [ItemGroup] {
        var groups: [ItemGroup] = []
        var positions: [Key: Int] = [:]
        for item in items where isMeant(item) {
            let key = key(of: item)
            if let position = positions[key] {
                groups[position].items.append(item)
            } else {
                positions[key] = groups.count
                groups.append(ItemGroup(policy: item.policy, items: [item]))
            }
        }
        return groups
    }

    private static func key(of item: ProtectedItem) -> Key {
        let factors = item.policy.factors
        return Key(
            policy: item.policy,
            item: factors.contains(.applicationPassword) ? item.reference : nil,
            binding: factors.contains(.biometryCurrentSet) ? item.biometryBinding : nil
        )
    }
}

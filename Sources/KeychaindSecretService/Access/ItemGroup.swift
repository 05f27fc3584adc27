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

/// Protected items named in the dialog for the password of `login`.
///
/// That password is the passcode: entering it proves the passcode for these items and no others.
@BusActor
final class NamedItems {
    /// The purpose that the dialog shows beside the unlocking.
    let purpose: AuthenticationPurpose

    /// The password given in that dialog.
    let passcode = KeptPassword()

    private let references: Set<ItemReference>

    /// - Parameter items: as many as one dialog can name; nil if there are none.
    init?(_ items: [ProtectedItem], for purpose: ([ProtectedItem]) -> AuthenticationPurpose) {
        guard !items.isEmpty else { return nil }
        self.purpose = purpose(items)
        references = Set(items.map(\.reference))
    }

    func contains(_ item: ProtectedItem) -> Bool {
        references.contains(item.reference)
    }
}

import KeychaindForeignFiles
import KeychaindLanguage
import SecretServiceClient

/// What an import does with each keychain.
package struct ImportPlan: Sendable {
    package var keychains: [PlannedKeychain] = []
    /// Items and keychains that stay behind, with the reason.
    package var left: [LeftItem] = []
}

/// The items that go into one keychain.
package struct PlannedKeychain: Sendable {
    package let name: String
    let password: Password?
    let isDefault: Bool
    /// The label under which programs look for it; nil if that is its name.
    let label: String?
    /// Nil until it is created.
    var collection: SecretCollection?
    package let comparison: ItemComparison
}

extension ImportPlan {
    /// The items of a source, gathered by the keychain that they go to.
    struct Group {
        let name: String
        var password: Password?
        var isDefault = false
        var label: String?
        var items: [ImportedItem] = []
    }

    /// - Parameter single: the keychain for all items; nil to keep the keychains of the source.
    static func groups(of contents: SourceContents, into single: String?) -> [Group] {
        var groups: [Group] = []
        for keychain in contents.keychains where !keychain.items.isEmpty || keychain.isLogin {
            let name = single ?? (keychain.isLogin ? TargetKeychains.login : keychain.name)
            let index = groups.firstIndex { $0.name == name } ?? groups.endIndex
            if index == groups.endIndex { groups.append(Group(name: name)) }
            groups[index].items += keychain.items
            if groups[index].password == nil || keychain.isLogin { groups[index].password = keychain.password }
            guard single == nil else { continue }
            if keychain.isDefault, !keychain.isLogin { groups[index].isDefault = true }
            if keychain.isLogin, keychain.keepsLabel { groups[index].label = keychain.name }
        }
        return groups
    }

    /// Compares the items of a source with those of keychaind, whose keychains are opened, but not created.
    static func make(
        _ contents: SourceContents,
        into single: String?,
        _ keychains: TargetKeychains
    ) async throws -> ImportPlan {
        var plan = ImportPlan()
        plan.left = contents.keychains.flatMap(\.left)
        for group in groups(of: contents, into: single) {
            switch try await keychains.find(group.name, password: group.password) {
            case .unlocked(let collection):
                let present = try await items(of: collection, group.name, keychains.messages)
                plan.add(group, collection, ItemComparison(group.items, with: present))
            case .missing:
                plan.add(group, nil, ItemComparison(group.items, with: []))
            case .locked:
                let reason = Text("keychaind's keychain “\(group.name)” stayed locked")
                plan.left += group.items.map {
                    LeftItem(label: $0.item.label, keychain: group.name, reason: reason)
                }
            }
        }
        return plan
    }

    private static func items(
        of collection: SecretCollection,
        _ name: String,
        _ messages: any ImportMessages
    ) async throws -> [ImportedItem] {
        let paths = try await collection.items()
        let counter = Counter { messages.progress(Text("Comparing"), $0, of: paths.count) }
        defer { messages.finishProgress() }
        let reader = CollectionReader(client: collection.client, keychain: name) { counter.add($0) }
        return try await reader.read(paths).items
    }

    private mutating func add(_ group: Group, _ collection: SecretCollection?, _ comparison: ItemComparison) {
        keychains.append(
            PlannedKeychain(
                name: group.name,
                password: group.password,
                isDefault: group.isDefault,
                label: group.label,
                collection: collection,
                comparison: comparison
            )
        )
    }
}

import DBus
import KeychainModel
import Vault

/// A path that only leads to others, so that tools find every object from the root (#12).
struct NodeObject {
    let provider: Provider
    let node: SecretPath.Node
    let caller: String

    @BusActor static let kind = ObjectKind<NodeObject>([], children: { $0.children })

    @BusActor private var children: [String] {
        switch node {
        case .root: ["org"]
        case .org: ["freedesktop", "keychaind"]
        case .freedesktop: ["secrets"]
        case .keychaind: ["Audit", "Authentication", "Backups"]
        case .collections: provider.vault.collections.map(\.name.encoded)
        case .aliases: provider.aliases.map(AliasElement.encode)
        case .sessions: provider.sessions.numbers(of: caller).map(\.description)
        case .prompts: provider.prompts.numbers(of: caller).map(\.description)
        case .contexts: provider.contexts.numbers(of: caller).map(\.description)
        }
    }
}

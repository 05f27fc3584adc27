import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// An intermediate path, exported so that tools find every object from the root (#12).
struct NodeObject {
    let node: SecretPath.Node
    let vault: Vault
    let client: Client

    @BusActor static let kind = ObjectKind<NodeObject>([], children: { $0.children })

    @BusActor private var children: [String] {
        switch node {
        case .root: ["org"]
        case .org: ["freedesktop", "keychaind"]
        case .freedesktop: ["secrets"]
        case .keychaind:
            client.view.isConfined ? ["Authentication"] : ["Audit", "Authentication", "Backups", "Portal", "Rules"]
        case .collections: client.collections(of: vault).map(\.name.encoded)
        case .aliases: aliases.map(AliasElement.encode)
        case .sessions: client.sessions.numbers.map(\.description)
        case .prompts: client.prompts.numbers.map(\.description)
        case .contexts: client.contexts.numbers.map(\.description)
        }
    }

    /// Aliases that resolve to a collection.
    @BusActor private var aliases: [String] {
        let builtIn = ["default", "login", "session"]
        return Set(vault.aliases.keys).union(builtIn).filter { alias in
            vault.collection(forAlias: alias).map { client.sees($0) } ?? false
        }.sorted()
    }
}

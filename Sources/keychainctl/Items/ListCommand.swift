import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

struct ListCommand: ProviderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List items, without their secrets."
    )

    @Option(help: "Only the items of the keychain with this label.")
    var keychain: String?

    @OptionGroup var listing: ListingArguments

    func run(_ provider: ProviderAccess) async throws {
        _ = try await listing.show(ItemQuery(keychain: keychain), provider)
    }
}

struct SearchCommand: ProviderCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Find items by attributes, a label or a part of a text.",
        discussion: "Ends with status 3 if nothing is found."
    )

    @Argument(help: ArgumentHelp("Attributes that the items have.", valueName: "name=value"))
    var attributes: [String] = []

    @Option(help: "The label of the items.")
    var label: String?

    @Option(help: "The label of their keychain.")
    var keychain: String?

    @Option(help: "A part of the label or of an attribute's value; upper and lower case are the same.")
    var text: String?

    @OptionGroup var listing: ListingArguments

    func validate() throws {
        guard !attributes.isEmpty || label != nil || text != nil else {
            throw ValidationError("search for NAME=VALUE, --label or --text; “list” shows all items")
        }
        _ = try ItemQuery.attributes(attributes)
    }

    func run(_ provider: ProviderAccess) async throws {
        let query = ItemQuery(attributes: try ItemQuery.attributes(attributes), label: label, keychain: keychain)
        let part = text?.lowercased()
        let (shown, hidden) = try await listing.show(query, provider) { item in
            guard let part else { return true }
            let texts = [item.properties.label] + item.properties.attributes.values
            return texts.contains { text in text.lowercased().contains(part) }
        }
        guard shown == 0 else { return }
        try provider.output.flush()
        guard hidden == 0 else {
            throw CommandFailure(.locked, Text("nothing is found in the open keychains; others are locked"))
        }
        throw CommandFailure(.notFound, Text("nothing is found"))
    }
}

/// How items are listed.
struct ListingArguments: ParsableArguments {
    @Flag(help: "Show the secrets of items that are open.")
    var showSecrets = false

    @Flag(help: "Unlock what is found first, which may ask you.")
    var unlock = false

    @OptionGroup var format: JSONArguments

    /// Items whose secrets are read in one call.
    private static let batch = 200

    /// Writes the items of a query as they are read, and returns how many, and how many hide what they are.
    func show(
        _ query: ItemQuery,
        _ provider: ProviderAccess,
        where isMeant: (FoundItem) -> Bool = { _ in true }
    ) async throws -> (shown: Int, hidden: Int) {
        let list = ItemList(to: provider.output, isJSON: format.json, withSecrets: showSecrets)
        let finder = ItemFinder(client: provider.client)
        var hidden = 0
        try await finder.forEachBatch(of: query) { batch, hiddenItems in
            var batch = batch
            if unlock, batch.contains(where: \.properties.isLocked) {
                try await provider.unlock(batch.filter(\.properties.isLocked).map(\.item), .shown)
                let records = try await finder.read(batch.map(\.item))
                let keychains = Dictionary(batch.map { ($0.item.path, $0.keychain) }) { first, _ in first }
                batch = records.map { record in
                    let keychain = keychains[record.item.path] ?? ""
                    return FoundItem(item: record.item, properties: record.properties, keychain: keychain)
                }
            }
            hidden += hiddenItems.count + batch.count { $0.isHidden }
            let meant = batch.filter(isMeant)
            if showSecrets {
                try await showSecrets(meant, list, provider.client)
            } else {
                for item in meant { try list.add(item) }
            }
            return true
        }
        try list.finish()
        return (list.count, hidden)
    }

    private func showSecrets(_ items: [FoundItem], _ list: ItemList, _ client: SecretClient) async throws {
        var rest = items[...]
        while !rest.isEmpty {
            let portion = Array(rest.prefix(Self.batch))
            rest = rest.dropFirst(portion.count)
            let open = OpenItems(portion, list)
            // To ask for one that is locked is a denial in the audit.
            let readable = portion.filter { !$0.properties.isLocked }.map(\.item)
            try await client.forEachSecret(of: readable) { item, secret in try open.show(item, secret) }
            for item in portion where !open.shown.contains(item.item.path) { try list.add(item) }
        }
    }
}

/// The items whose secrets one call reads.
private final class OpenItems {
    private(set) var shown: Set<String> = []

    private let items: [String: FoundItem]
    private let list: ItemList

    init(_ items: [FoundItem], _ list: ItemList) {
        self.items = Dictionary(items.map { ($0.item.path, $0) }) { first, _ in first }
        self.list = list
    }

    func show(_ item: SecretItem, _ secret: borrowing Secret) throws(CommandFailure) {
        guard let found = items[item.path], shown.insert(item.path).inserted else { return }
        try list.add(found, secret)
    }
}

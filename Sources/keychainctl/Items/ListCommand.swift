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
        _ = try await listing.show(ItemSelection(keychain: keychain), provider)
        await provider.client.tellOfHidingRules()
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
        _ = try ItemSelection.attributes(attributes)
    }

    func run(_ provider: ProviderAccess) async throws {
        let query = ItemSelection(
            attributes: try ItemSelection.attributes(attributes),
            label: label,
            keychain: keychain
        )
        var isMeant: ((ListedItem) -> Bool)?
        if let part = text?.lowercased() { isMeant = { item in Self.has(item, part) } }
        let (shown, hidden) = try await listing.show(query, provider, where: isMeant)
        guard shown == 0 else { return }
        try provider.output.flush()
        guard hidden == 0 else {
            throw CommandFailure(.locked, "nothing is found in the open keychains; others are locked")
        }
        throw CommandFailure(.notFound, "nothing is found")
    }

    /// - Parameter part: in lower case.
    private static func has(_ item: ListedItem, _ part: String) -> Bool {
        let texts = [item.properties.label] + item.properties.attributes.values
        return texts.contains { text in text.lowercased().contains(part) }
    }
}

/// How items are listed.
struct ListingArguments: ParsableArguments {
    @Flag(help: "Show the secrets of items that are open.")
    var showSecrets = false

    @Flag(help: "Unlock what is found first, which may ask you.")
    var unlock = false

    @OptionGroup var format: JSONArguments

    /// Writes the items of a query as they are read, and returns how many, and how many hide what they are.
    ///
    /// - Parameter isMeant: a further condition of the query; nil for none.
    func show(
        _ query: ItemSelection,
        _ provider: ProviderAccess,
        where isMeant: ((ListedItem) -> Bool)? = nil
    ) async throws -> (shown: Int, hidden: Int) {
        let list = ItemList(to: provider.output, isJSON: format.json, withSecrets: showSecrets)
        let finder = ItemFinder(client: provider.client)
        var hidden = 0
        try await finder.forEachBatch(of: query) { batch, hiddenItems in
            var found = batch
            if unlock {
                found = try await unlocked(batch + hiddenItems, of: query, provider, where: isMeant)
            } else {
                hidden += hiddenItems.count
            }
            hidden += found.count { $0.isHidden }
            let meant = found.filter { isMeant?($0) ?? true }
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

    /// Unlocks items that a query finds, and returns these and others that were open.
    private func unlocked(
        _ items: [ListedItem],
        of query: ItemSelection,
        _ provider: ProviderAccess,
        where isMeant: ((ListedItem) -> Bool)?
    ) async throws -> [ListedItem] {
        let finder = ItemFinder(client: provider.client)
        var items = items
        let hidden = items.filter(\.isHidden)
        if !hidden.isEmpty, query.label != nil || isMeant != nil {
            // What is in a keychain can be compared once it is open; its protected items need not open for that.
            try await provider.unlockKeychains(of: hidden, .shown)
            items = try await finder.readAgain(items)
            if let label = query.label { items = items.filter { $0.properties.label == label } }
        }
        let locked = items.filter { $0.properties.isLocked && (isMeant?($0) ?? true) }
        guard !locked.isEmpty else { return items }
        try await provider.unlock(locked.map(\.item), .shown)
        return try await finder.readAgain(items)
    }

    private func showSecrets(_ items: [ListedItem], _ list: ItemList, _ client: SecretClient) async throws {
        let byPath = Dictionary(items.map { ($0.item.path, $0) }) { first, _ in first }
        // To ask for one that is locked is a denial in the audit.
        let readable = items.filter { !$0.properties.isLocked }.map(\.item)
        let shown = try await client.readSecrets(of: readable) { item, secret in
            if let found = byPath[item.path] { try list.add(found, secret) }
        } unreadable: { error in
            throw CommandFailure(error)
        }
        for item in items where !shown.contains(item.item.path) { try list.add(item) }
    }
}

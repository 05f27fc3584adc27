import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

struct SetCommand: ProviderCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Store a secret, or replace that of the item with exactly these attributes.",
        discussion: """
            The secret is typed twice on a terminal, or read byte for byte from standard input or a descriptor: \
            “printf %s” adds no newline, “echo” does.
            """
    )

    @Argument(help: ArgumentHelp("The attributes of the item.", valueName: "name=value"))
    var attributes: [String]

    @Option(help: "The label; of a new item by default the values of its attributes.")
    var label: String?

    @Option(help: "The label of the keychain; by default the one for new items.")
    var keychain: String?

    @Option(help: "Read the secret from this descriptor.")
    var secretFD: Int32?

    @Option(help: "The content type; by default text/plain for text, else application/octet-stream.")
    var contentType: String?

    @OptionGroup var prompt: PromptArguments

    func validate() throws {
        guard !attributes.isEmpty else { throw ValidationError("name the item by at least one NAME=VALUE") }
        _ = try ItemSelection.attributes(attributes)
        try Descriptors.check(secretFD, of: "--secret-fd")
    }

    func run(_ provider: ProviderAccess) async throws {
        let wanted = try ItemSelection.attributes(attributes)
        let collection = try await Keychains.one(provider.client, labeled: keychain)
        // A mistake ends the command before a person is asked.
        _ = try await self.existing(wanted, in: collection, provider)
        let secret = try SecretInput.read(from: secretFD, contentType: contentType, provider.interruption)
        // Read again: another program may have changed the label, or stored the item, while a person typed.
        let existing = try await self.existing(wanted, in: collection, provider)
        let isKeychaind = try await provider.client.enforcesAccessControl()
        if let existing, !isKeychaind {
            // Its own CreateItem would replace an item that has other attributes beside these.
            try await existing.item.setSecret(secret, prompting: prompt.prompting)
            if let label { try await existing.item.setLabel(label) }
            return
        }
        let values = wanted.sorted { $0.key < $1.key }.map(\.value).joined(separator: " ")
        try await collection.createItem(
            label: label ?? existing?.properties.label ?? values,
            attributes: wanted,
            secret: secret,
            replacing: isKeychaind,
            prompting: prompt.prompting
        )
    }

    /// The item with exactly these attributes, beside those that a program need not know.
    private func existing(
        _ wanted: [String: String],
        in collection: SecretCollection,
        _ provider: ProviderAccess
    ) async throws -> ListedItem? {
        var records = try await ItemFinder(client: provider.client).read(try await collection.search(wanted))
        if records.contains(where: { ListedItem.isHidden($0.properties) }) {
            try await collection.unlock(prompting: prompt.prompting)
            records = try await ItemFinder(client: provider.client).read(records.map(\.item))
        }
        let same = records.filter { record in
            record.properties.attributes.allSatisfy { name, _ in
                wanted[name] != nil || name == "xdg:schema" || name.hasPrefix("keychain:")
            }
        }
        guard same.count < 2 else {
            let ids = same.map { ListedItem(item: $0.item, properties: $0.properties, keychain: "").id.visible }
            throw CommandFailure(
                .ambiguous,
                "\(same.count) items have these attributes: \(ids.joined(separator: ", ")); change one with “edit --id”"
            )
        }
        return same.first.map { ListedItem(item: $0.item, properties: $0.properties, keychain: "") }
    }
}

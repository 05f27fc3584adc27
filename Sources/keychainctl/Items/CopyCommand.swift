import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

struct CopyCommand: ProviderCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copy items to another keychain, with their attributes and times."
    )

    @OptionGroup var items: ItemArguments

    @Option(help: "The label of the keychain that gets the copies.")
    var to: String

    @Flag(help: "Copy all items that are found.")
    var all = false

    @Flag(help: "Replace items of the other keychain that have the same attributes.")
    var replace = false

    @OptionGroup var prompt: PromptArguments

    func run(_ provider: ProviderAccess) async throws {
        let finder = ItemFinder(client: provider.client)
        let target = try await Keychains.one(provider.client, labeled: to)
        let found = try await finder.some(try items.query, all: all, prompt.prompting)
        guard !found.contains(where: { $0.collectionPath == target.path }) else {
            throw CommandFailure(.refused, Text("an item is in “\(to.visible)” already, so nothing was copied"))
        }
        if try await target.isLocked() { try await target.unlock(prompting: prompt.prompting) }
        let locked = found.filter(\.properties.isLocked).map(\.item)
        try await provider.unlock(locked, prompt.prompting)
        let records = try await finder.read(found.map(\.item))
        if !replace { try await checkAbsent(records, in: target, finder) }
        let keepsTimes = try await provider.client.enforcesAccessControl()
        for record in records {
            try Task.checkCancellation()
            let properties = record.properties
            let secret = try await record.item.secret(prompting: prompt.prompting)
            _ = try await target.createItem(
                label: properties.label,
                attributes: properties.attributes,
                secret: secret,
                // Other providers than keychaind refuse them.
                created: keepsTimes ? properties.created : nil,
                modified: keepsTimes ? properties.modified : nil,
                replacing: replace,
                prompting: prompt.prompting
            )
        }
        if records.count > 1 {
            Terminal.tell(
                Text(
                    records.count,
                    one: "\(records.count) item is copied.",
                    other: "\(records.count) items are copied."
                )
            )
        }
    }

    private func checkAbsent(
        _ records: [SecretItemRecord],
        in target: SecretCollection,
        _ finder: ItemFinder
    ) async throws {
        for record in records {
            let attributes = record.properties.attributes
            let same = try await finder.read(try await target.search(attributes)).first { candidate in
                candidate.properties.attributes == attributes
            }
            guard same == nil else {
                throw CommandFailure(
                    .refused,
                    Text(
                        """
                        “\(to.visible)” has an item with the attributes of “\(record.properties.label.visible)” \
                        already, so nothing was copied; --replace replaces it
                        """
                    )
                )
            }
        }
    }
}

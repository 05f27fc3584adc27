import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

struct EditCommand: ProviderCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the label, attributes or secret of an item.",
        discussion: "A protected item asks you to allow the change."
    )

    @OptionGroup var items: ItemArguments

    @Option(help: "The new label.")
    var newLabel: String?

    @Option(help: ArgumentHelp("Add an attribute, or change it; several times for several.", valueName: "name=value"))
    var attribute: [String] = []

    @Option(help: "Remove an attribute; several times for several.")
    var remove: [String] = []

    @Flag(help: "Change the secret: typed on a terminal, or read from standard input.")
    var secret = false

    @Option(help: "Change the secret to what this descriptor gives.")
    var secretFD: Int32?

    @OptionGroup var prompt: PromptArguments

    private var changesSecret: Bool { secret || secretFD != nil }

    func validate() throws {
        let added = try ItemQuery.attributes(attribute)
        guard newLabel != nil || !added.isEmpty || !remove.isEmpty || changesSecret else {
            throw ValidationError("nothing to change: use --new-label, --attribute, --remove, --secret or --secret-fd")
        }
        if let both = remove.first(where: { added[$0] != nil }) {
            throw ValidationError("“\(both.visible)” cannot be both changed and removed")
        }
        try SecretInput.check(secretFD)
    }

    func run(_ provider: ProviderAccess) async throws {
        let finder = ItemFinder(client: provider.client)
        var found = try await finder.one(try items.query, prompt.prompting)
        if found.properties.isLocked {
            try await provider.unlockKeychains(of: [found], prompt.prompting)
            guard let record = try await finder.read([found.item]).first else {
                throw CommandFailure(.notFound, Text("the item was deleted meanwhile"))
            }
            found = FoundItem(item: found.item, properties: record.properties, keychain: found.keychain)
        }
        let attributes = try changed(found.properties.attributes)
        guard changesSecret else {
            return withExtendedLifetime(try await change(found, to: attributes, provider)) {}
        }
        let secret = try SecretInput.read(from: secretFD, contentType: nil, provider.interruption)
        let context = try await change(found, to: attributes, provider)
        try await found.item.setSecret(secret, prompting: prompt.prompting)
        withExtendedLifetime(context) {}
    }

    /// Changes label and attributes; the permission in the result also serves a change of the secret.
    private func change(
        _ found: FoundItem,
        to attributes: [String: String],
        _ provider: ProviderAccess
    ) async throws -> AuthenticationContext? {
        let context = try await provider.authorize(.protect, [found], prompt.prompting)
        if attributes != found.properties.attributes { try await found.item.setAttributes(attributes) }
        if let newLabel { try await found.item.setLabel(newLabel) }
        return context
    }

    private func changed(_ attributes: [String: String]) throws -> [String: String] {
        var attributes = attributes
        for name in remove where attributes.removeValue(forKey: name) == nil {
            throw CommandFailure(.notFound, Text("the item has no attribute “\(name.visible)”"))
        }
        return attributes.merging(try ItemQuery.attributes(attribute)) { _, new in new }
    }
}

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

    @Option(help: ArgumentHelp("Add or change an attribute; may be repeated.", valueName: "name=value"))
    var attribute: [String] = []

    @Option(help: "Remove an attribute; may be repeated.")
    var remove: [String] = []

    @Flag(help: "Change the secret: typed on a terminal, or read from standard input.")
    var secret = false

    @Option(help: "Read the new secret from this descriptor.")
    var secretFD: Int32?

    @OptionGroup var prompt: PromptArguments

    private var changesSecret: Bool { secret || secretFD != nil }

    func validate() throws {
        let added = try ItemSelection.attributes(attribute)
        guard newLabel != nil || !added.isEmpty || !remove.isEmpty || changesSecret else {
            throw ValidationError("nothing to change: use --new-label, --attribute, --remove, --secret or --secret-fd")
        }
        if let both = remove.first(where: { added[$0] != nil }) {
            throw ValidationError("“\(both.visible)” cannot be both changed and removed")
        }
        try Descriptors.check(secretFD, of: "--secret-fd")
    }

    func run(_ provider: ProviderAccess) async throws {
        let finder = ItemFinder(client: provider.client)
        var found = try await finder.one(try items.query, prompt.prompting)
        if found.properties.isLocked {
            try await provider.unlockKeychains(of: [found], prompt.prompting)
            guard let record = try await finder.read([found.item]).first else {
                throw CommandFailure(.notFound, "the item was deleted meanwhile")
            }
            found = ListedItem(item: found.item, properties: record.properties, keychain: found.keychain)
        }
        // A mistake ends the command before a person is asked.
        _ = try changed(found.properties.attributes)
        guard changesSecret else {
            let context = try await provider.authorize(.protect, [found], prompt.prompting)
            try await change(found.item, to: try await newAttributes(of: found, finder))
            return withExtendedLifetime(context) {}
        }
        let secret = try SecretInput.read(from: secretFD, contentType: nil, provider.interruption)
        let context = try await provider.authorize(.protect, [found], prompt.prompting)
        try await change(found.item, to: try await newAttributes(of: found, finder), secret)
        withExtendedLifetime(context) {}
    }

    /// All attributes of the changed item; nil if they stay.
    ///
    /// Read again: other programs may have changed some while a person typed or was asked.
    private func newAttributes(of found: ListedItem, _ finder: ItemFinder) async throws -> [String: String]? {
        guard !attribute.isEmpty || !remove.isEmpty else { return nil }
        guard let record = try await finder.read([found.item]).first else {
            throw CommandFailure(.notFound, "the item was deleted meanwhile")
        }
        guard !ListedItem.isHidden(record.properties) else { throw CommandFailure(.locked, "it is locked") }
        let present = record.properties.attributes
        let wanted = try changed(present)
        return wanted == present ? nil : wanted
    }

    private func change(_ item: SecretItem, to attributes: [String: String]?) async throws {
        guard attributes != nil || newLabel != nil else { return }
        guard try await !item.change(label: newLabel, attributes: attributes) else { return }
        // Another provider has a call for each.
        if let attributes { try await item.setAttributes(attributes) }
        if let newLabel { try await item.setLabel(newLabel) }
    }

    private func change(
        _ item: SecretItem,
        to attributes: [String: String]?,
        _ secret: borrowing Secret
    ) async throws {
        let isDone = try await item.change(
            label: newLabel,
            attributes: attributes,
            secret: secret,
            prompting: prompt.prompting
        )
        guard !isDone else { return }
        try await change(item, to: attributes)
        try await item.setSecret(secret, prompting: prompt.prompting)
    }

    private func changed(_ attributes: [String: String]) throws -> [String: String] {
        var attributes = attributes
        for name in remove where attributes.removeValue(forKey: name) == nil {
            throw CommandFailure(.notFound, "the item has no attribute “\(name.visible)”")
        }
        return attributes.merging(try ItemSelection.attributes(attribute)) { _, new in new }
    }
}

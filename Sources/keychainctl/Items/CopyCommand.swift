import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

struct CopyCommand: ProviderCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copy items to another keychain, with their attributes; in keychaind also with their times."
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
            throw CommandFailure(.refused, "an item is in “\(to.visible)” already, so nothing was copied")
        }
        if try await target.isLocked() { try await target.unlock(prompting: prompt.prompting) }
        let locked = found.filter(\.properties.isLocked).map(\.item)
        try await provider.unlock(locked, prompt.prompting)
        let records = try await finder.read(found.map(\.item))
        if !replace { try await checkAbsent(records, in: target, finder) }
        let isKeychaind = try await provider.client.enforcesAccessControl()
        var copied: Set<[String: String]> = []
        for (done, record) in records.enumerated() {
            // Of copies with the same attributes, the first may replace an item, and the others stand beside it.
            var compared = Self.comparedAttributes(of: record)
            let replaces = replace && copied.insert(compared).inserted
            // To keychaind, attributes without a schema are also the same as those with any.
            if isKeychaind {
                compared["xdg:schema"] = nil
                copied.insert(compared)
            }
            do {
                try Task.checkCancellation()
                try await copy(record, to: target, replaces: replaces, isKeychaind: isKeychaind, finder)
            } catch {
                let words = Text(
                    done,
                    one: "\(done) of \(records.count) items is copied",
                    other: "\(done) of \(records.count) items are copied"
                )
                throw HalfDone.failure(error, after: done, words, at: record.properties.label)
            }
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

    private func copy(
        _ record: SecretItemRecord,
        to target: SecretCollection,
        replaces: Bool,
        isKeychaind: Bool,
        _ finder: ItemFinder
    ) async throws {
        let secret = try await record.item.secret(prompting: prompt.prompting)
        // The others' own CreateItem would replace an item that has other attributes beside these.
        if replaces, !isKeychaind, let old = try await same(as: record, in: target, finder) {
            try await old.setSecret(secret, prompting: prompt.prompting)
            return try await old.setLabel(record.properties.label)
        }
        _ = try await target.createItem(
            label: record.properties.label,
            attributes: record.properties.attributes,
            secret: secret,
            // Other providers than keychaind refuse them.
            created: isKeychaind ? record.properties.created : nil,
            modified: isKeychaind ? record.properties.modified : nil,
            replacing: replaces && isKeychaind,
            prompting: prompt.prompting
        )
    }

    private func checkAbsent(
        _ records: [SecretItemRecord],
        in target: SecretCollection,
        _ finder: ItemFinder
    ) async throws {
        for record in records {
            guard try await same(as: record, in: target, finder) == nil else {
                throw CommandFailure(
                    .refused,
                    """
                    “\(to.visible)” has an item with the attributes of “\(record.properties.label.visible)” \
                    already, so nothing was copied; --replace replaces it
                    """
                )
            }
        }
    }

    /// The item of the other keychain with exactly the attributes of an item.
    private func same(
        as record: SecretItemRecord,
        in target: SecretCollection,
        _ finder: ItemFinder
    ) async throws -> SecretItem? {
        let attributes = record.properties.attributes
        return try await finder.read(try await target.search(attributes)).first { candidate in
            candidate.properties.attributes == attributes
        }?.item
    }

    /// The attributes that keychaind compares when it replaces an item.
    private static func comparedAttributes(of record: SecretItemRecord) -> [String: String] {
        record.properties.attributes.filter { name, _ in !name.hasPrefix("keychain:") }
    }
}

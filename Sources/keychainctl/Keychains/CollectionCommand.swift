import ArgumentParser
import KeychaindCommandLine
import KeychaindGcrypt
import KeychaindLanguage
import SecretServiceClient

struct CollectionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collection",
        abstract: "List, create, delete and rename keychains.",
        subcommands: [List.self, Create.self, Delete.self, Default.self, Rename.self],
        defaultSubcommand: List.self
    )

    struct List: ProviderCommand {
        static let configuration = CommandConfiguration(abstract: "List the keychains.")

        @OptionGroup var format: JSONArguments

        func run(_ provider: ProviderAccess) async throws {
            let keychains = try await KeychainState.all(provider.client)
            if format.json {
                let objects = keychains.map { "{\($0.json)}" }
                return try provider.output.line(JSON.array(objects))
            }
            let table = Table(KeychainState.titles, to: provider.output)
            for keychain in keychains { try table.add(keychain.row) }
            try table.finish()
        }
    }

    struct Create: ProviderCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a keychain.",
            discussion: "A dialog asks for its password; with --password-fd it is read instead."
        )

        @Argument(help: "The label.")
        var label: String

        @Option(help: "Read the password from this descriptor.")
        var passwordFD: Int32?

        func validate() throws {
            try Descriptors.check(passwordFD, of: "--password-fd")
        }

        func run(_ provider: ProviderAccess) async throws {
            try await CollectionCommand.check(label, isNew: provider.client)
            guard let passwordFD else {
                _ = try await provider.client.createCollection(label: label)
                return
            }
            let password = try SecureBytes.newPassword(from: passwordFD, provider.interruption)
            _ = try await provider.client.createCollection(label: label, password: password)
        }
    }

    struct Delete: ProviderCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a keychain with all its items.",
            discussion: "Deletes only an empty keychain unless --with-items is given."
        )

        @Argument(help: "The label of the keychain.")
        var keychain: String

        @Flag(help: "Delete its items, too.")
        var withItems = false

        func run(_ provider: ProviderAccess) async throws {
            let collection = try await Keychains.one(provider.client, labeled: keychain)
            let count = try await collection.items().count
            guard count == 0 || withItems else {
                let items = Text(count, one: "\(count) item", other: "\(count) items")
                throw CommandFailure(.refused, "“\(keychain.visible)” has \(items); --with-items deletes them, too")
            }
            try await collection.delete()
        }
    }

    struct Default: ProviderCommand {
        static let configuration = CommandConfiguration(abstract: "Show or choose the keychain for new items.")

        @Argument(help: "The label of the keychain; without it, shows the present one.")
        var keychain: String?

        func run(_ provider: ProviderAccess) async throws {
            if let keychain {
                let collection = try await Keychains.one(provider.client, labeled: keychain)
                return try await provider.client.setAlias("default", to: collection)
            }
            guard let collection = try await provider.client.defaultCollection() else {
                throw CommandFailure(.notFound, "no keychain is chosen for new items")
            }
            try provider.output.line(try await collection.label().visible)
        }
    }

    struct Rename: ProviderCommand {
        static let configuration = CommandConfiguration(abstract: "Change the label of a keychain.")

        @Argument(help: "The label of the keychain.")
        var keychain: String

        @Argument(help: "The new label.")
        var label: String

        func run(_ provider: ProviderAccess) async throws {
            let collection = try await Keychains.one(provider.client, labeled: keychain)
            try await CollectionCommand.check(label, isNew: provider.client, besides: collection)
            if try await collection.isLocked() { try await collection.unlock() }
            try await collection.setLabel(label)
        }
    }

    /// Throws if a keychain other than the one to be renamed has the label: commands would not know which is meant.
    private static func check(
        _ label: String,
        isNew client: SecretClient,
        besides renamed: SecretCollection? = nil
    ) async throws {
        let labels = try await ItemFinder(client: client).keychainLabels()
        guard !labels.contains(where: { $0.value == label && $0.key != renamed?.path }) else {
            throw CommandFailure(.refused, "there is a keychain “\(label.visible)” already")
        }
    }
}

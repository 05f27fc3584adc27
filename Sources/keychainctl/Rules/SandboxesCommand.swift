import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

struct SandboxesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sandboxes",
        abstract: "See which sandboxed programs see only their own items.",
        discussion: "Needs keychaind.",
        subcommands: [List.self, Show.self, Confirm.self],
        defaultSubcommand: List.self
    )

    struct List: KeychaindCommand {
        static let configuration = CommandConfiguration(abstract: "List the sandboxed programs.")

        @OptionGroup var format: JSONArguments

        func run(_ provider: ProviderAccess) async throws {
            let sandboxes = try await provider.client.sandboxes()
            if format.json { return try provider.output.line(JSON.array(sandboxes.map(\.json))) }
            let table = Table(
                [Text("SANDBOX"), Text("SEES"), Text("ITEMS"), Text("LAST CALL")],
                to: provider.output
            )
            for sandbox in sandboxes { try table.add(sandbox.row) }
            try table.finish()
        }
    }

    struct Show: SandboxSubcommand {
        static let configuration = CommandConfiguration(
            abstract: "List the items of a sandboxed program.",
            discussion: "Those that it has stored; before it is confirmed, also those that it has read."
        )

        @Argument(help: "The program, such as flatpak:org.example.Mail, as the list shows it.")
        var sandbox: String

        @OptionGroup var format: JSONArguments

        func run(_ provider: ProviderAccess) async throws {
            let items = try await provider.client.items(ofSandbox: sandbox)
            let finder = ItemFinder(client: provider.client)
            let labels = try await finder.keychainLabels()
            let list = ItemList(to: provider.output, isJSON: format.json, withSecrets: false)
            for record in try await finder.read(items) {
                let keychain = labels[ListedItem.collectionPath(of: record.item)] ?? ""
                try list.add(ListedItem(item: record.item, properties: record.properties, keychain: keychain))
            }
            try list.finish()
        }
    }

    struct Confirm: SandboxSubcommand {
        static let configuration = CommandConfiguration(
            abstract: "Limit a sandboxed program to its own items, after a dialog.",
            discussion: """
                It keeps the items that “sandboxes show” lists, unless you name others. Without --id or --none, look \
                at that list first.
                """
        )

        @Argument(help: "The program, such as flatpak:org.example.Mail, as the list shows it.")
        var sandbox: String

        @Option(help: "An item that it keeps, by its place such as login/7; may be repeated.")
        var id: [String] = []

        @Flag(help: "It keeps only what it is known to have stored.")
        var none = false

        func validate() throws {
            guard id.isEmpty || !none else { throw ValidationError("choose --id or --none") }
        }

        func run(_ provider: ProviderAccess) async throws {
            var items: [SecretItem] = []
            if !id.isEmpty {
                items = try id.map { id in try provider.client.item(at: ListedItem.path(of: id)) }
            } else if !none {
                items = try await provider.client.items(ofSandbox: sandbox)
            }
            try await provider.client.confirmSandbox(sandbox, items: items)
            try provider.output.line(Text("\(sandbox.visible) sees only its own items now."))
        }
    }
}

private protocol SandboxSubcommand: KeychaindCommand {}

extension SandboxSubcommand {
    /// A text that names no sandbox is not found.
    static var statusOfMistakes: ExitStatus { .notFound }
}

extension StoredSandbox {
    fileprivate var row: [String] {
        let last = lastCall == 0 ? "" : Time.minute(lastCall / 1_000_000)
        return [identity.visible, shownState, "\(itemCount)", last]
    }

    private var shownState: String {
        switch state {
        case "limited": Text("its own items", context: "what a sandbox sees").cell
        case "unconfirmed": Text("all, until you confirm", context: "what a sandbox sees").cell
        case "open": Text("all", context: "what a sandbox sees").cell
        default: state.visible
        }
    }

    fileprivate var json: String {
        "{\"identity\": \(JSON.string(identity)), \"state\": \(JSON.string(state)), "
            + "\"last-call\": \(lastCall / 1_000_000), \"items\": \(itemCount)}"
    }
}

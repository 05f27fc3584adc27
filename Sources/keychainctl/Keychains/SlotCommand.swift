import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

struct SlotCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "slot",
        abstract: "List, add and remove the ways to open a keychain.",
        discussion: "Needs keychaind. Each change asks for the password of the keychain, or a recovery key.",
        subcommands: [List.self, Add.self, Remove.self],
        defaultSubcommand: List.self
    )

    struct Target: ParsableArguments {
        @Option(help: "The label of the keychain; without it, the keychain that opens when you log in.")
        var keychain: String?

        func collection(_ client: SecretClient) async throws -> SecretCollection {
            try await Keychains.one(client, labeled: keychain, alias: "login")
        }
    }

    struct List: KeychaindCommand {
        static let configuration = CommandConfiguration(abstract: "List the ways to open a keychain.")

        @OptionGroup var target: Target
        @OptionGroup var format: JSONArguments

        func run(_ provider: ProviderAccess) async throws {
            let collection = try await target.collection(provider.client)
            let slots = try await collection.keySlots()
            // A keychain that cannot be read has some, which are unknown.
            if slots.isEmpty, try await collection.keychaindState()?.problem.isEmpty == false {
                throw CommandFailure(.locked, "the ways to open the keychain are not known")
            }
            if format.json {
                let objects = slots.map(\.json)
                return try provider.output.line(JSON.array(objects))
            }
            let table = Table([Text("SLOT"), Text("OPENS BY"), Text("SINCE"), Text("LABEL")], to: provider.output)
            for slot in slots { try table.add(slot.row) }
            try table.finish()
        }
    }

    struct Add: KeychaindCommand {
        static let configuration = CommandConfiguration(abstract: "Add a way to open a keychain.")

        @OptionGroup var target: Target

        @Flag(help: "This computer, by its TPM.")
        var tpm = false

        @Flag(help: "The login keychain: with --keychain, the other opens together with it.")
        var login = false

        @Flag(help: "A recovery key, which a dialog shows once.")
        var recoveryKey = false

        @Flag(help: "Another password.")
        var password = false

        @Flag(help: "The security key (FIDO2) that is plugged in.")
        var fido2 = false

        @Flag(help: "With --fido2: the key opens the keychain only with its PIN.")
        var pin = false

        @Option(help: "A name for the list.")
        var label = ""

        func validate() throws {
            guard [tpm, login, recoveryKey, password, fido2].count(where: { $0 }) == 1 else {
                throw ValidationError("choose one of --tpm, --login, --fido2, --recovery-key and --password")
            }
            guard !login || target.keychain != nil else { throw ValidationError("--login needs --keychain") }
            guard fido2 || !pin else { throw ValidationError("--pin needs --fido2") }
        }

        private var newSlot: SecretCollection.NewKeySlot {
            if tpm { .host } else if login { .login } else { recoveryKey ? .recoveryKey : .password }
        }

        func run(_ provider: ProviderAccess) async throws {
            let collection = try await target.collection(provider.client)
            guard !fido2 else { return try await collection.addSecurityKey(needsPIN: pin, label: label) }
            try await collection.addKeySlot(newSlot, label: label)
        }
    }

    struct Remove: KeychaindCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a way to open a keychain.",
            discussion: "The last password stays."
        )

        @Argument(help: "The number of the slot, from the list.")
        var slot: UInt64

        @OptionGroup var target: Target

        func run(_ provider: ProviderAccess) async throws {
            try await target.collection(provider.client).removeKeySlot(slot)
        }
    }
}

extension KeySlot {
    fileprivate var row: [String] { ["\(number)", kind.visible, Time.minute(made), label.visible] }

    fileprivate var json: String {
        "{\"slot\": \(number), \"kind\": \(JSON.string(kind)), \"made\": \(made), \"label\": \(JSON.string(label))}"
    }
}

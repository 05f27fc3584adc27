import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage
import KeychaindModel
import SecretServiceClient

struct ProtectCommand: ProviderCommand {
    static let configuration = CommandConfiguration(
        commandName: "protect",
        abstract: "Make stored items ask before each use.",
        discussion: """
            Needs keychaind. --with is an access control such as userPresence (a finger or the password of your \
            login), biometryAny (a finger only) or devicePasscode (that password only); “keychainctl(1)” has more.
            """
    )

    @OptionGroup var items: ItemArguments

    @Option(help: ArgumentHelp("What the items ask for.", valueName: "access-control"))
    var with = "userPresence"

    @Flag(help: "Protect all items that are found.")
    var all = false

    func validate() throws {
        do {
            guard try AccessControl(parsing: with).policy != nil else {
                throw ValidationError("“\(with.visible)” asks for nothing")
            }
        } catch let error as AccessControlError {
            throw ValidationError("--with: \(error.reason.visible)")
        }
    }

    func run(_ provider: ProviderAccess) async throws {
        let protection = ProtectionChange(provider, accessControl: with)
        let changes = try await protection.apply(to: try items.query, all: all)
        let uses = AuditedUses(
            try? await provider.client.audit(since: 0, limit: 0),
            ProgramsWithoutUnlock(settings: try? await provider.client.keychaindStatus()?.settings)
        )
        for (item, isChanged) in changes {
            let label = item.properties.label.visible
            // Translators: an item and an access control, such as "userPresence"
            let change =
                isChanged ? Text("“\(label)” now asks for \(with).") : Text("“\(label)” asks already for \(with).")
            try provider.output.line(.joined([change, uses.words(for: item.item.path)]))
        }
    }
}

struct UnprotectCommand: ProviderCommand {
    static let configuration = CommandConfiguration(
        commandName: "unprotect",
        abstract: "Take the protection off items, so that they open with their keychain.",
        discussion: "Needs keychaind, which asks you first."
    )

    @OptionGroup var items: ItemArguments

    @Flag(help: "All items that are found.")
    var all = false

    func run(_ provider: ProviderAccess) async throws {
        let change = ProtectionChange(provider, accessControl: nil)
        for (item, isChanged) in try await change.apply(to: try items.query, all: all) {
            let label = item.properties.label.visible
            try provider.output.line(
                isChanged ? Text("“\(label)” opens with its keychain now.") : Text("“\(label)” is not protected.")
            )
        }
    }
}

import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

struct RecoveryKeyCommand: CopiesCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery-key",
        abstract: "Make a recovery key against a forgotten password.",
        discussion: """
            A dialog asks for the password of the keychain, and another shows the key once, to write it down. Type the \
            key wherever the password is asked for.
            """
    )

    @Option(help: "The label of the keychain; without it, the keychain that opens when you log in.")
    var keychain: String?

    @Option(help: "Where the key is kept, for the list of keys.")
    var label = "recovery key"

    func run(_ provider: ProviderAccess) async throws {
        let collection = try await Keychains.one(provider.client, labeled: keychain, alias: "login")
        try await collection.addRecoveryKey(label: label)
        Terminal.say("The recovery key is valid now. Keep it where only you have access.")
    }
}

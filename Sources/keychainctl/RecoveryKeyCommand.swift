import ArgumentParser
import KeychaindCommandLine
import SecretServiceClient

struct RecoveryKeyCommand: AsyncParsableCommand {
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

    func run() async throws {
        try await Interruption.cancelling { [self] _ in
            do {
                let client = try await SecretClient.connect()
                try await collection(client).addRecoveryKey(label: label)
            } catch let error as SecretServiceError {
                throw CopyList.failure(error)
            }
            print("The recovery key is valid now. Keep it where only you have access.")
        }
    }

    private func collection(_ client: SecretClient) async throws -> SecretCollection {
        guard let keychain else {
            guard let login = try await client.collection(alias: "login") else {
                throw CommandFailure(.notFound, "there is no login keychain; name one with --keychain")
            }
            return login
        }
        var found: [SecretCollection] = []
        for collection in try await client.collections() {
            if try await collection.label() == keychain { found.append(collection) }
        }
        guard let collection = found.first else {
            throw CommandFailure(.notFound, "there is no keychain “\(keychain.visible)”")
        }
        guard found.count == 1 else {
            throw CommandFailure(.refused, "there are \(found.count) keychains “\(keychain.visible)”; rename one")
        }
        return collection
    }
}

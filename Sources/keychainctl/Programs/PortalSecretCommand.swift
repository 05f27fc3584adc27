import ArgumentParser
import KeychaindCommandLine
import KeychaindImport
import KeychaindLanguage
import SecretServiceClient

struct PortalSecretCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "portal-secret",
        abstract: "Give an application the portal secret that it had with another provider.",
        discussion: """
            A Flatpak application encrypts its data with a secret from the desktop portal. “keychainctl import” brings \
            the secret of another provider, but not for an application that has got a new one from keychaind.
            """,
        subcommands: [Replace.self, Undo.self]
    )

    struct Replace: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replace the secret of an application with that of another provider.",
            discussion: """
                The application can then read what it encrypted before, and no longer what it has encrypted with its \
                present secret. keychaind keeps that secret, asks for your password or a touch, and shows no secret.
                """
        )

        @OptionGroup var target: Target

        @Argument(help: "The file with the secret, instead of a provider, as for import.", completion: .file())
        var file: [String] = []

        @Option(help: "The provider: \(SourceName.gnomeKeyring.rawValue), \(SourceName.kwallet.rawValue).")
        var from: SourceName?

        @Option(help: "Read the password of the file or provider from this descriptor instead of asking.")
        var passwordFD: Int32?

        func validate() throws {
            try Descriptors.check(passwordFD, of: "--password-fd")
            if from == .keepassxc { throw ValidationError("KeePassXC has no portal secrets") }
            if from != nil, !file.isEmpty { throw ValidationError("give --from or files, not both") }
        }

        func run() async throws {
            let source = try ImportSource.of(from, file)
            // Read before the program has other descriptors.
            let given = try passwordFD.map { Password(try PasswordInput.read(from: $0)) }
            try await Interruption.cancelling { [self] interruption in
                let screen = ImportScreen(interruption)
                let contents = try await source.read(ImportPasswords(given: given, interruption: interruption), screen)
                screen.finishProgress()
                let secret = try contents.portalSecret(of: target.application)
                try await target.change(interruption) { (client) async throws(SecretServiceError) in
                    try await secret.replace(in: client)
                }
            }
        }
    }

    struct Undo: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give an application the secret that was replaced last.",
            discussion: "The present secret is kept, so that a second undo brings it back."
        )

        @OptionGroup var target: Target

        func run() async throws {
            try await Interruption.cancelling { [self] interruption in
                try await target.change(interruption) { (client) async throws(SecretServiceError) in
                    try await client.undoPortalReplacement(for: target.application)
                    return true
                }
            }
        }
    }

    /// The application, and the person's yes.
    struct Target: ParsableArguments {
        @Argument(help: "The application, such as org.example.Mail.")
        var application: String

        @Flag(help: "Answer the question, where there is no terminal.")
        var yes = false

        /// Asks, and then changes the secret in an open keychain; false if the application has it already.
        func change(
            _ interruption: Interruption,
            _ change: (SecretClient) async throws(SecretServiceError) -> Bool
        ) async throws {
            try confirm(interruption)
            let isChanged: Bool
            do throws(SecretServiceError) {
                let client = try await SecretClient.connect()
                try await client.collection(alias: "login")?.unlock()
                isChanged = try await change(client)
            } catch {
                throw failure(error)
            }
            let name = application.visible
            Terminal.say(
                isChanged ? Text("\(name) has its former secret. Start it again.") : Text("\(name) has this secret.")
            )
        }

        private func confirm(_ interruption: Interruption) throws(CommandFailure) {
            guard !yes else { return }
            let name = application.visible
            let answer = try Terminal.ask(
                Text(
                    """
                    \(name) will not be able to read what it has encrypted with its present secret. Close it first. \
                    keychaind keeps the present secret; “keychainctl portal-secret undo \(name)” brings it back. \
                    Type “yes”: 
                    """
                ),
                interruption
            )
            guard let answer else {
                throw CommandFailure(.refused, "the application may lose data: without a terminal, add --yes")
            }
            guard answer == "yes" else { throw CommandFailure(.cancelled, "nothing was changed") }
        }

        private func failure(_ error: SecretServiceError) -> CommandFailure {
            guard error.errorName == "org.freedesktop.Secret.Error.NoSuchObject" else {
                return .ofKeychaind(error)
            }
            return CommandFailure(.notFound, Text(verbatim: error.reason.visible))
        }
    }
}

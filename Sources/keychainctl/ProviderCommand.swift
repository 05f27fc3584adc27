import ArgumentParser
import KeychaindCommandLine
import KeychaindGcrypt
import KeychaindLanguage
import SecretServiceClient

/// A command that talks to the provider.
protocol ProviderCommand: AsyncParsableCommand, Sendable {
    func run(_ provider: ProviderAccess) async throws

    /// The failure for an error of the provider.
    func failure(_ error: SecretServiceError) -> CommandFailure
}

/// The connection of a command, how it may ask, and where its result goes.
struct ProviderAccess: Sendable {
    let client: SecretClient
    let interruption: Interruption
    let output: Output
}

extension ProviderCommand {
    func failure(_ error: SecretServiceError) -> CommandFailure { CommandFailure(error) }

    /// Connects, runs the command until it ends or Ctrl-C is pressed, and writes its output.
    func run() async throws {
        try await Interruption.cancelling { [self] interruption in
            do {
                let output = Output(interruption)
                let provider = ProviderAccess(client: try await .connect(), interruption: interruption, output: output)
                do {
                    try await run(provider)
                } catch let error as SecretServiceError {
                    throw await failure(error).withProblems(of: provider.client)
                } catch let failure as CommandFailure {
                    throw await failure.withProblems(of: provider.client)
                }
                try output.flush()
            } catch let error as SecretServiceError {
                throw CommandFailure(error).withModeOfLibgcrypt()
            } catch is CancellationError {
                throw CommandFailure(.cancelled, "interrupted")
            }
        }
    }
}

/// A command that only keychaind can serve.
protocol KeychaindCommand: ProviderCommand {
    /// The status if keychaind does not take an argument, as one with a mistake.
    static var statusOfMistakes: ExitStatus { get }
}

extension KeychaindCommand {
    static var statusOfMistakes: ExitStatus { .failure }

    func failure(_ error: SecretServiceError) -> CommandFailure {
        .ofKeychaind(error, mistakes: Self.statusOfMistakes)
    }
}

extension CommandFailure {
    /// The provider is not keychaind.
    static var notKeychaind: CommandFailure {
        CommandFailure(.refused, "the present provider of secrets cannot do this: it is not keychaind, or an older one")
    }

    /// The failure for an error of what only keychaind can do.
    static func ofKeychaind(_ error: SecretServiceError, mistakes: ExitStatus = .failure) -> CommandFailure {
        if error.isOfMissingMethod || error.errorName?.hasSuffix(".UnknownObject") == true { return .notKeychaind }
        guard error.code == .invalidArguments else { return CommandFailure(error) }
        return CommandFailure(mistakes, Text(verbatim: error.reason.visible))
    }

    /// The same failure, with the faults of keychains that may be its cause.
    ///
    /// A keychain that cannot be read passes for a locked one, and its items are not found.
    fileprivate func withProblems(of client: SecretClient) async -> CommandFailure {
        guard status == .locked || status == .notFound else { return self }
        let problems = await KeychainProblem.all(client).map(\.line)
        return problems.isEmpty ? self : CommandFailure(status, .lines([text] + problems))
    }
}

extension CommandFailure {
    /// The same failure, with the reason for which keychaind does not start here.
    fileprivate func withModeOfLibgcrypt() -> CommandFailure {
        status == .noProvider && Gcrypt.isInFIPSMode ? CommandFailure(status, .lines([text, .fipsMode])) : self
    }
}

extension Text {
    static var fipsMode: Text { Text("libgcrypt is in FIPS mode, in which keychaind does not start") }
}

struct PromptArguments: ParsableArguments {
    @Flag(help: "Show no dialog; end with status 4 if something is locked.")
    var noPrompt = false

    var prompting: SecretPrompting { noPrompt ? .never : .shown }
}

struct JSONArguments: ParsableArguments {
    @Flag(help: "Write JSON.")
    var json = false
}

import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

/// A command that talks to the provider.
protocol ProviderCommand: AsyncParsableCommand, Sendable {
    func run(_ provider: ProviderAccess) async throws
}

/// The connection of a command, how it may ask, and where its result goes.
struct ProviderAccess: Sendable {
    let client: SecretClient
    let interruption: Interruption
    let output: Output
}

extension ProviderCommand {
    /// Connects, runs the command until it ends or Ctrl-C is pressed, and writes its output.
    func run() async throws {
        try await Interruption.cancelling { [self] interruption in
            do {
                let output = Output(interruption)
                try await run(
                    ProviderAccess(client: try await .connect(), interruption: interruption, output: output)
                )
                try output.flush()
            } catch let error as SecretServiceError {
                throw CommandFailure(error)
            } catch is CancellationError {
                throw CommandFailure(.cancelled, Text("interrupted"))
            }
        }
    }
}

struct PromptArguments: ParsableArguments {
    @Flag(help: "Ask nobody: what is locked ends with status 4.")
    var noPrompt = false

    var prompting: SecretPrompting { noPrompt ? .never : .shown }
}

struct JSONArguments: ParsableArguments {
    @Flag(help: "Write JSON.")
    var json = false
}

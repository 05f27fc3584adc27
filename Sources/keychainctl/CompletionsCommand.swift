import ArgumentParser
import KeychaindCommandLine

struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Write the completions of a shell: bash, zsh or fish."
    )

    @Argument(help: "The shell.")
    var shell: String

    func run() throws {
        guard let shell = CompletionShell(rawValue: shell) else {
            throw ValidationError("there are completions for bash, zsh and fish")
        }
        print(Keychainctl.completionScript(for: shell))
    }
}

struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "version", abstract: "Show the version.")

    func run() throws {
        print("keychainctl \(Version.current)")
    }
}

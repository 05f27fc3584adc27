import ArgumentParser
import Glibc
import KeychaindCommandLine
import KeychaindGcrypt
import KeychaindLanguage
import SecretServiceClient

struct RunCommand: ProviderCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a command with secrets in its environment.",
        discussion: """
            For example: keychainctl run --env GH_TOKEN=service=gh:github.com -- gh auth status

            Only the command gets the variables. Programs of the same user can read the environment of a process; a \
            command that reads a secret from a descriptor is better off with “get”. Ends as the command does, with 127 \
            if it is not found and 126 if it cannot be run.
            """
    )

    @Option(
        name: .customLong("env"),
        help: ArgumentHelp(
            "A variable and its item; may be repeated. Attributes are separated by spaces; label:TEXT and "
                + "id:PLACE name an item, too.",
            valueName: "name=query"
        )
    )
    var variables: [String]

    @OptionGroup var prompt: PromptArguments

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after “--”.")
    var command: [String]

    func validate() throws {
        guard !command.isEmpty else { throw ValidationError("name a command after “--”") }
        var names: Set<String> = []
        for query in try variables.map(SecretQuery.init) where !names.insert(query.name).inserted {
            throw ValidationError("the variable “\(query.name.visible)” is given twice")
        }
    }

    func run(_ provider: ProviderAccess) async throws {
        let finder = ItemFinder(client: provider.client)
        for wanted in try variables.map(SecretQuery.init) {
            let found = try await finder.one(wanted.query, prompt.prompting)
            let secret = try await provider.secret(of: found, prompt.prompting)
            try Self.setVariable(wanted.name, to: secret)
        }
        try Task.checkCancellation()
        provider.client.close()
        replaceProcess()
    }

    /// Sets a variable of this process, which becomes the command.
    ///
    /// Throws ``ExitStatus/refused`` for a secret that a variable cannot hold.
    private static func setVariable(_ name: String, to secret: borrowing Secret) throws(CommandFailure) {
        let text = UnsafeMutableRawBufferPointer.allocate(byteCount: secret.count + 1, alignment: 1)
        defer {
            wipe(text)
            text.deallocate()
        }
        let hasNUL = secret.withUnsafeBytes { bytes in
            text.copyMemory(from: bytes)
            return bytes.contains(0)
        }
        guard !hasNUL else {
            let reason = Text("the secret for “\(name.visible)” contains a NUL byte, which no variable can hold")
            throw CommandFailure(.refused, reason)
        }
        text[secret.count] = 0
        let isSet = text.withMemoryRebound(to: CChar.self) { text in
            text.baseAddress.map { value in setenv(name, value, 1) == 0 } ?? false
        }
        guard isSet else { throw CommandFailure(.failure, "“\(name.visible)” cannot be a variable") }
    }

    /// Executes the command in place; returns only into an exit with the statuses of env(1).
    private func replaceProcess() -> Never {
        SignalState.atStart.restore()
        if !Keychainctl.logsDispatch { unsetenv("LIBDISPATCH_LOG") }
        var arguments = command.map { strdup($0) }
        arguments.append(nil)
        execvp(command[0], arguments)
        let reason = errno
        Terminal.tell("keychainctl: “\(command[0].visible)” cannot be run: \(String(cString: strerror(reason)))")
        Glibc.exit(reason == ENOENT ? 127 : 126)
    }
}

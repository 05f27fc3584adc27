import ArgumentParser
import Glibc
import KeychaindCommandLine

@main
struct Keychainctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keychainctl",
        abstract: "Look after the keychains of your desktop.",
        version: "keychainctl \(Version.current)",
        groupedSubcommands: [
            CommandGroup(
                name: "Items",
                subcommands: [
                    ListCommand.self,
                    SearchCommand.self,
                    GetCommand.self,
                    SetCommand.self,
                    EditCommand.self,
                    DeleteCommand.self,
                    CopyCommand.self,
                    ProtectCommand.self,
                    UnprotectCommand.self,
                    HistoryCommand.self,
                ]
            ),
            CommandGroup(
                name: "Keychains",
                subcommands: [
                    StatusCommand.self,
                    LockCommand.self,
                    UnlockCommand.self,
                    CollectionCommand.self,
                    PasswordCommand.self,
                    SlotCommand.self,
                    RecoveryKeyCommand.self,
                    AuditCommand.self,
                    WatchCommand.self,
                ]
            ),
            CommandGroup(
                name: "Secrets for programs",
                subcommands: [RunCommand.self, CredentialCommand.self]
            ),
            CommandGroup(
                name: "Programs and their items",
                subcommands: [RulesCommand.self, SandboxesCommand.self, PortalSecretCommand.self]
            ),
            CommandGroup(
                name: "Copies",
                subcommands: [
                    BackupCommand.self, RestoreCommand.self, CheckCommand.self, SalvageCommand.self,
                    ExportCommand.self, ImportCommand.self,
                ]
            ),
            CommandGroup(
                name: "The system",
                subcommands: [
                    SwitchCommand.self, DoctorCommand.self, ConfigCommand.self, CompletionsCommand.self,
                    VersionCommand.self,
                ]
            ),
        ]
    )

    /// Whether the person wants messages of libdispatch.
    ///
    /// It would tell the journal, in each process, that it may not raise the priority of a thread.
    static let logsDispatch = getenv("LIBDISPATCH_LOG") != nil

    /// Runs the command, and ends with the status of its failure.
    static func main() async {
        // Before a command opens files and handles signals.
        Descriptors.reserveStandard()
        _ = SignalState.atStart
        if !logsDispatch { setenv("LIBDISPATCH_LOG", "NO", 1) }
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            try Output.finishPrinting()
        } catch let failure as CommandFailure {
            let line = Array("keychainctl: \(failure.message)\n".utf8)
            _ = write(STDERR_FILENO, line, line.count)
            Glibc.exit(failure.status.rawValue)
        } catch {
            end(with: error)
        }
    }

    /// Ends as the argument parser does, whose messages repeat arguments as they were given.
    private static func end(with error: any Error) -> Never {
        let status = exitCode(for: error)
        guard !status.isSuccess else { exit(withError: error) }
        let message = fullMessage(for: error, columns: nil)
        if !message.isEmpty {
            let lines = Array("\(escaped(message))\n".utf8)
            _ = write(STDERR_FILENO, lines, lines.count)
        }
        Glibc.exit(status.rawValue)
    }

    /// Lines in which nothing acts on a terminal; what is escaped already stays as it is.
    private static func escaped(_ lines: String) -> String {
        lines.unicodeScalars.map { scalar in
            scalar == "\n" || scalar == "\\" ? String(scalar) : String(scalar).visible
        }.joined()
    }
}

import ArgumentParser
import Glibc
import KeychaindCommandLine

@main
struct Keychainctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keychainctl",
        abstract: "Look after the keychains of your desktop.",
        version: "keychainctl \(Version.current)",
        subcommands: [
            BackupCommand.self,
            DoctorCommand.self,
            ExportCommand.self,
            ImportCommand.self,
            RecoveryKeyCommand.self,
            RestoreCommand.self,
            SwitchCommand.self,
        ]
    )

    /// Runs the command, and ends with the status of its failure.
    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            let line = Array("keychainctl: \(failure.message)\n".utf8)
            _ = write(STDERR_FILENO, line, line.count)
            Glibc.exit(failure.status.rawValue)
        } catch {
            exit(withError: error)
        }
    }
}

import Foundation
import KeychaindTestSupport
import Testing

/// The example KeySlots on a terminal, where the keychain also asks.
struct KeySlotsTests {
    private static let program = "key_slots.py"

    /// Runs a command that asks nobody; returns its output.
    private func say(_ example: Example, _ arguments: [String]) async throws -> CommandResult {
        try await Command.run("\(example.folder)/\(Self.program)", arguments, environment: example.daemon.environment)
    }

    /// The lines of `list` without the date.
    private func slots(_ example: Example) async throws -> [String] {
        let result = try await say(example, ["list"])
        try #require(result.succeeded, "\(result.errors)")
        return result.text.split(separator: "\n").map { line in
            let words = line.split(separator: " ")
            return (words.prefix(2) + words.dropFirst(3)).joined(separator: " ")
        }
    }

    /// Runs a command on the terminal, where the keychain asks for its password.
    private func change(_ example: Example, _ arguments: String, on terminal: TestTerminal) async throws -> ChildProcess
    {
        let child = try terminal.run(
            "exec \(example.folder)/\(Self.program) \(arguments)",
            environment: example.daemon.environment
        )
        try await terminal.waitFor("Password:")
        terminal.type("password\r")
        return child
    }

    @Test("A recovery key and a second password are added and removed again")
    func keySlots_addListRemove() async throws {
        try await Example.with("KeySlots") { example in
            #expect(try await slots(example) == ["1 password"])
            let terminal = try TestTerminal()
            let adding = try await change(example, "add-recovery-key \"in the safe\"", on: terminal)
            // Selects “I Have Written It Down” or “Cancel” by its first letter.
            try await terminal.waitFor("[ic]?")
            terminal.type("i")
            #expect(try await adding.waitForExit() == .success)
            #expect(try await slots(example) == ["1 password", "2 recovery-key in the safe"])

            let choosing = try await change(example, "add-password", on: terminal)
            for question in ["New password:", "Repeat:"] {
                try await terminal.waitFor(question)
                terminal.type("another\r")
            }
            #expect(try await choosing.waitForExit() == .success)
            #expect(try await slots(example).last == "3 password")

            let removing = try await change(example, "remove 2", on: terminal)
            #expect(try await removing.waitForExit() == .success)
            #expect(try await slots(example) == ["1 password", "3 password"])
        }
    }

    @Test("A computer with a TPM opens the keychain, and is listed")
    func addHost_withATPM_isListed() async throws {
        let tpm = try await SoftwareTPM()
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("keychaind"), withIntermediateDirectories: false)
        try "[host]\ntpm = \"\(tpm.transport)\"\n".write(
            toFile: folder.path("keychaind/config.toml"),
            atomically: false,
            encoding: .utf8
        )
        try await Example.with("KeySlots", environment: ["XDG_CONFIG_HOME": folder.path]) { example in
            let terminal = try TestTerminal()
            let adding = try await change(example, "add-host laptop", on: terminal)
            #expect(try await adding.waitForExit() == .success)
            #expect(try await slots(example) == ["1 password", "2 host laptop"])
        }
    }

    @Test("Cancelling changes nothing, and errors are reported")
    func keySlots_cancelledOrImpossible_sayWhy() async throws {
        try await Example.with("KeySlots") { example in
            let terminal = try TestTerminal()
            let adding = try terminal.run(
                "exec \(example.folder)/\(Self.program) add-recovery-key",
                environment: example.daemon.environment
            )
            try await terminal.waitFor("Password:")
            terminal.type("\u{4}")
            try await terminal.waitFor("Nothing was changed.")
            #expect(try await adding.waitForExit() == .exited(1))

            let last = try await say(example, ["remove", "1"])
            #expect(last.status == .exited(1) && last.errors.contains("the last password"))
            let missing = try await say(example, ["--keychain", "nowhere", "list"])
            #expect(missing.status == .exited(1) && missing.errors.contains("nowhere"))
            #expect(try await slots(example) == ["1 password"])
        }
    }
}

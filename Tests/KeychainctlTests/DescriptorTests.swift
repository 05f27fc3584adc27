import KeychaindTestSupport
import Testing

@Suite("keychainctl's descriptors")
struct DescriptorTests {
    @Test(
        "A closed standard stream cannot be read or written",
        arguments: ["list >&-", "list --show-secrets >&-", "get service=mail >&-", "set service=mail <&-"]
    )
    func closedStream_isInputOutputError(command: String) async throws {
        try await Controlled.with { controlled in
            try await controlled.add("Mail", ["service": "mail"], "kept")
            let result = try await Self.shell("exec \"$0\" \(command)", controlled)
            #expect(result.status == .exited(10), "\(result.errors)")
            #expect(result.output.isEmpty && result.errors.hasSuffix(": Bad file descriptor\n"), "\(result.errors)")
            #expect(try await controlled.text(["service": "mail"]) == "kept")
        }
    }

    @Test(
        "What cannot be written ends with a status of its own",
        arguments: ["list", "restore", "backup list", "version"]
    )
    func fullDisk_isInputOutputError(command: String) async throws {
        try await Controlled.with { controlled in
            try await controlled.add("Mail", ["service": "mail"], "kept")
            #expect(try await controlled.run("backup").succeeded)
            let result = try await Self.shell("exec \"$0\" \(command) >/dev/full", controlled)
            #expect(result.status == .exited(10) && result.errors.hasSuffix(": No space left on device\n"))
        }
    }

    @Test("A closed standard error takes nothing from the output")
    func closedErrors_changeNothing() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("Mail", ["service": "mail"], "kept")
            let found = try await Self.shell("exec \"$0\" get service=mail 2>&-", controlled)
            #expect(found.succeeded && found.text == "kept")
            let missing = try await Self.shell("exec \"$0\" get service=none 2>&-", controlled)
            #expect(missing.status == .exited(3))
        }
    }

    @Test(
        "A descriptor that was not passed is wrong usage, not one of keychainctl's own",
        arguments: ["set a=b --secret-fd", "unlock --password-fd", "collection create New --password-fd"],
        [5, 9]
    )
    func descriptorNotPassed_isWrongUsage(command: String, descriptor: Int) async throws {
        try await Controlled.with { controlled in
            let line = "exec \"$0\" \(command) \(descriptor) \(descriptor)<&-"
            let result = try await Self.shell(line, controlled)
            #expect(result.status == .exited(64), "\(result.errors)")
            #expect(result.errors.contains("descriptor \(descriptor) is not open"), "\(result.errors)")
        }
    }

    /// Runs a line of bash, in which `$0` is keychainctl.
    private static func shell(_ line: String, _ controlled: Controlled) async throws -> CommandResult {
        try await Command.run(
            "/bin/bash",
            ["-c", line, ImportHome.executable],
            environment: controlled.provider.bus.environment
        )
    }
}

import KeychaindTestSupport
import Testing

@Suite("keychainctl's descriptors")
struct DescriptorTests {
    @Test("A closed standard stream cannot be read or written; a closed standard error takes nothing from the output")
    func closedStream_isInputOutputError() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("Mail", ["service": "mail"], "kept")
            for command in ["list >&-", "list --show-secrets >&-", "get service=mail >&-", "set service=mail <&-"] {
                let result = try await Self.shell("exec \"$0\" \(command)", controlled)
                #expect(result.status == .exited(10), "\(command): \(result.errors)")
                #expect(result.output.isEmpty && result.errors.hasSuffix(": Bad file descriptor\n"), "\(result.errors)")
            }
            #expect(try await controlled.text(["service": "mail"]) == "kept")
            let found = try await Self.shell("exec \"$0\" get service=mail 2>&-", controlled)
            #expect(found.succeeded && found.text == "kept")
            let missing = try await Self.shell("exec \"$0\" get service=none 2>&-", controlled)
            #expect(missing.status == .exited(3))
        }
    }

    @Test("What cannot be written ends with a status of its own")
    func fullDisk_isInputOutputError() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("Mail", ["service": "mail"], "kept")
            #expect(try await controlled.run("backup").succeeded)
            for command in ["list", "restore", "backup list", "version"] {
                let result = try await Self.shell("exec \"$0\" \(command) >/dev/full", controlled)
                #expect(result.status == .exited(10), "\(command)")
                #expect(result.errors.hasSuffix(": No space left on device\n"), "\(command): \(result.errors)")
            }
        }
    }

    @Test("A descriptor that was not passed is wrong usage, not one of keychainctl's own")
    func descriptorNotPassed_isWrongUsage() async throws {
        try await Controlled.with { controlled in
            for command in [
                "set a=b --secret-fd", "unlock --password-fd", "collection create New --password-fd",
            ] {
                for descriptor in [5, 9] {
                    let line = "exec \"$0\" \(command) \(descriptor) \(descriptor)<&-"
                    let result = try await Self.shell(line, controlled)
                    #expect(result.status == .exited(64), "\(line): \(result.errors)")
                    #expect(result.errors.contains("descriptor \(descriptor) is not open"), "\(result.errors)")
                }
            }
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

import KeychaindTestSupport
import Testing

@Suite("How to use keychainctl")
struct UsageTests {
    @Test("The help of each command names the command")
    func help_namesCommand() async throws {
        let overview = try await Command.run(ImportHome.executable, ["--help"])
        let names = overview.text.split(separator: "\n").compactMap { line in
            line.wholeMatch(of: #/  ([a-z][a-z-]*)(  .*)?/#).map { String($0.1) }
        }
        #expect(names.contains("list") && names.contains("doctor") && names.contains("switch"))
        for name in names {
            let help = try await Command.run(ImportHome.executable, [name, "--help"])
            #expect(help.succeeded && help.text.contains("\nUSAGE: keychainctl \(name)"), "\(name): \(help.text)")
        }
    }

    @Test(
        "Wrong usage, also an argument that would be ignored, is said before anybody is asked",
        arguments: [
            ["rules", "add"], ["rules", "add", "allow", "any", "*"], ["rules", "add", "allow any *", "--file", "x"],
            ["rules", "remove"], ["rules", "test", "any"], ["rules", "test", "any", "bank"],
            ["rules", "test", "any", "a=b", "--id", "login/1"], ["sandboxes", "show"],
            ["sandboxes", "confirm", "snap:x", "--none", "--id", "login/1"],
            ["audit", "--id", "login/1", "service=mail"], ["audit", "--id", "login/1", "--label", "Mail"],
            ["credential", "--serve", "a.service/b=c=d", "--serve", "a.service/b=e=f"],
            ["history", "a=b", "--restore", "x", "--json"],
        ]
    )
    func arguments_wrong_areUsage(arguments: [String]) async throws {
        let result = try await Command.run(
            ImportHome.executable,
            arguments,
            environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"]
        )
        #expect(result.status == .exited(64), "\(result.errors)")
    }

    @Test(
        "What the message about a wrong argument repeats of it is escaped",
        arguments: [
            ["list", "--\u{1B}[2J"], ["audit", "--limit", "\u{1B}]0;x\u{7}"], ["version", "\u{202E}x"],
            ["run", "--env", "\u{1B}[2J", "--", "true"],
        ]
    )
    func arguments_wrong_areEscaped(arguments: [String]) async throws {
        let result = try await Command.run(ImportHome.executable, arguments)
        #expect(result.status == .exited(64) && result.errors.contains("\\u{"), "\(result.errors)")
        #expect(!result.errors.contains("\u{1B}") && !result.errors.contains("\u{202E}"))
        // Not twice.
        #expect(!result.errors.contains("\\\\"))
    }

    @Test("A day that the month does not have is no time", arguments: ["2026-02-30", "2026-04-31 12:00", "2025-02-29"])
    func since_noDay_isWrongUsage(day: String) async throws {
        let result = try await Command.run(ImportHome.executable, ["audit", "--since", day])
        #expect(result.status == .exited(64) && result.errors.contains("“\(day)” is no time"), "\(result.errors)")
    }
}

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

    @Test("A day that the month does not have is no time", arguments: ["2026-02-30", "2026-04-31 12:00", "2025-02-29"])
    func since_noDay_isWrongUsage(day: String) async throws {
        let result = try await Command.run(ImportHome.executable, ["audit", "--since", day])
        #expect(result.status == .exited(64) && result.errors.contains("“\(day)” is no time"), "\(result.errors)")
    }
}

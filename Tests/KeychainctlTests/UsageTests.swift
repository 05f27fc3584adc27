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
}

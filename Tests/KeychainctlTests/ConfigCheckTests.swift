import Foundation
import KeychaindTestSupport
import Testing

@Suite("keychainctl config check")
struct ConfigCheckTests {
    private static func run(_ arguments: String..., environment: [String: String?]) async throws -> CommandResult {
        try await Command.run(ImportHome.executable, ["config", "check"] + arguments, environment: environment)
    }

    /// An environment without a bus.
    private static func environment(_ folder: ConfigurationFolder) -> [String: String?] {
        folder.environment.merging(["DBUS_SESSION_BUS_ADDRESS": nil, "XDG_RUNTIME_DIR": "/nowhere"]) { $1 }
    }

    @Test("Mistakes are shown with their place and what applies instead, with a status of their own")
    func mistakes_areShown() async throws {
        let folder = try ConfigurationFolder(
            """
            [lock]
            on-sleep = 1
            [keychain."a\\u202Eb".lock]
            colour = 1
            [host]
            tpm = 3
            x = 1
            """
        )
        let result = try await ConfigCheckTests.run(environment: ConfigCheckTests.environment(folder))
        #expect(result.status == .exited(12))
        let lines = result.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(
            lines.starts(with: [
                "\(folder.path):2:12: 'lock.on-sleep' must be true or false", "  Instead applies: lock.on-sleep = true",
            ])
        )
        #expect(lines.contains { $0.hasPrefix("\(folder.path):4:1: unknown setting") })
        #expect(lines.contains { $0.hasPrefix("  Left out. The keychain “a\\u{202e}b” locks with the screen") })
        #expect(lines.contains("  Instead applies: host.tpm = \"device:/dev/tpmrm0\""))
        #expect(lines.contains("  Left out."))
        #expect(lines.contains("  keychain.\"a\\U0000202eb\".lock.on-screen-lock = true"))
        #expect(lines.contains("keychaind is not running."))
        #expect(!result.text.contains("\u{202E}") && !result.errors.contains("\u{202E}"))
        #expect(result.errors.contains("has 4 mistakes"))
    }

    @Test("JSON has the mistakes, all settings and the state of keychaind")
    func json_hasAll() async throws {
        let folder = try ConfigurationFolder("[lock]\nidle-minutes = 2000\n[access]\nask-at-read = [\"a\\\"\"]\n")
        let result = try await ConfigCheckTests.run("--json", environment: ConfigCheckTests.environment(folder))
        #expect(result.status == .exited(12))
        let value = try JSONSerialization.jsonObject(with: Data(result.output)) as? [String: Any]
        let mistake = try #require((value?["mistakes"] as? [[String: Any]])?.first)
        #expect(mistake["line"] as? Int == 2 && mistake["column"] as? Int == 16)
        let settings = try #require(value?["settings"] as? [String: Any])
        #expect(settings["lock.idle-minutes"] as? Int == 15 && settings["lock.on-sleep"] as? Bool == false)
        #expect(settings["access.ask-at-read"] as? [String] == ["a\""])
        #expect(value?["file"] as? String == folder.path && value?["exists"] as? Bool == true)
        #expect(value?["keychaind"] is NSNull)
    }

    @Test("Without a file the defaults apply; a named one that is missing or a folder has its own status")
    func file_missing_isNoMistake() async throws {
        let folder = try ConfigurationFolder(nil)
        let environment = ConfigCheckTests.environment(folder)
        let none = try await ConfigCheckTests.run(environment: environment)
        #expect(none.succeeded && none.text.hasPrefix("There is no \(folder.path). The defaults apply:"))
        let named = try await ConfigCheckTests.run(folder.path, environment: environment)
        #expect(named.status == .exited(3))
        let other = try await ConfigCheckTests.run("/", environment: environment)
        #expect(other.status == .exited(10) && other.errors.contains("it is not a file"))
    }

    @Test("With a running keychaind it says whether the file is in force")
    func daemon_running_isCompared() async throws {
        let folder = try ConfigurationFolder("[lock]\non-sleep = true\n")
        var options = KeychainDaemon.Options()
        options.environment = folder.environment
        try await RunningService.withService(options) { service in
            let clock = try await ProgramClock.environment
            let environment = service.daemon.environment.merging(folder.environment) { $1 }.merging(clock) { $1 }
            func check(_ arguments: String...) async throws -> String {
                try await Command.run(
                    ImportHome.executable,
                    ["config", "check"] + arguments,
                    environment: environment
                ).text
            }
            #expect(try await check().contains("The running keychaind has these settings in force.\n"))
            try folder.write("[lock]\non-sleep = false\n[host]\nunlock-at-start = true\n")
            try await eventually("the new settings") {
                try await check().contains("after a restart also: host.unlock-at-start")
            }
            #expect(try await check("--json").contains("\"after-restart\": [\"host.unlock-at-start\"]"))
            let others = try TemporaryFolder()
            let other = try others.write("[lock]\non-sleep = true\n", to: "other.toml")
            #expect(try await check(other).contains("The running keychaind reads another file: \(folder.path)"))
        }
    }
}

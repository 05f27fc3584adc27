import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// The configuration is read again when its file changes.
struct ReloadTests {
    /// A daemon with this configuration.
    private func run(
        _ configuration: String?,
        environment: [String: String?] = [:],
        _ body: (RunningService, ConfigurationFolder) async throws -> Void
    ) async throws {
        let folder = try ConfigurationFolder(configuration)
        var options = KeychainDaemon.Options()
        options.arguments = ["--verbose"]
        options.environment = folder.environment.merging(environment) { $1 }
        try await RunningService.withService(options) { service in
            try await body(service, folder)
        }
    }

    @Test("a file that is written, replaced, removed and created again is in force each time")
    func file_changes_isInForce() async throws {
        try await run("[lock]\non-sleep = true\n") { service, folder in
            #expect(try await service.has("lock.on-sleep = true"))
            try folder.write("[lock]\non-screen-lock = true\n")
            try await service.waitFor("lock.on-screen-lock = true")
            #expect(try await service.has("lock.on-sleep = false"))
            try folder.replaceByRename("[lock]\nidle-minutes = 7\n")
            try await service.waitFor("lock.idle-minutes = 7")
            try FileManager.default.removeItem(atPath: folder.path)
            try await service.waitFor("lock.idle-minutes = 0")
            try folder.write("[access]\nask-at-read = [\"seahorse\"]\n")
            try await service.waitFor("access.ask-at-read = [\"seahorse\"]")
        }
    }

    @Test(
        "a file that never answers holds up no start, and counts as one that cannot be read",
        .enabled(if: StalledFile.isPossible)
    )
    func file_thatNeverAnswers_holdsUpNothing() async throws {
        let folder = try ConfigurationFolder(nil)
        let keychaind = (folder.path as NSString).deletingLastPathComponent
        let stalled = try StalledFile(in: keychaind, named: "config.toml")
        defer { withExtendedLifetime(folder) { stalled.end() } }
        var options = KeychainDaemon.Options()
        options.environment = folder.environment
        try await RunningService.withService(options) { service in
            // A process with a thread in a read of the file cannot end.
            defer { stalled.end() }
            let (daemon, client) = (service.daemon, service.client)
            try await eventually("the end of the patience with the disk") {
                // The read may not have begun yet.
                try daemon.clock.pass(.seconds(10))
                try await client.roundTrip()
                return daemon.child.standardError.lines.all.contains { $0.contains("The configuration cannot be read") }
            }
            let line = try await service.line("The configuration cannot be read")
            #expect(line.contains("its disk does not answer"))
            // The time that has passed may have ended the look at the other client, which is then told of no setting.
            #expect(try await service.has("lock.on-screen-lock = true", as: try await service.makeClient()))
        }
    }

    @Test("a folder that appears, and one that is replaced, is noticed")
    func folder_changes_isNoticed() async throws {
        try await run(nil) { service, folder in
            let keychaind = (folder.path as NSString).deletingLastPathComponent
            try FileManager.default.removeItem(atPath: keychaind)
            try FileManager.default.createDirectory(atPath: keychaind, withIntermediateDirectories: false)
            try folder.write("[lock]\nidle-minutes = 1\n")
            try await service.waitFor("lock.idle-minutes = 1")
            try FileManager.default.moveItem(atPath: keychaind, toPath: keychaind + ".old")
            try await service.waitFor("lock.idle-minutes = 0")
            try FileManager.default.moveItem(atPath: keychaind + ".old", toPath: keychaind)
            try await service.waitFor("lock.idle-minutes = 1")
            try folder.write("[lock]\nidle-minutes = 2\n")
            try await service.waitFor("lock.idle-minutes = 2")
        }
    }

    @Test("a link is followed: its target changes, and it leads elsewhere")
    func link_isFollowed() async throws {
        try await run(nil) { service, folder in
            let others = try TemporaryFolder()
            let first = try others.write("[lock]\nidle-minutes = 1\n", to: "first.toml")
            let second = try others.write("[lock]\nidle-minutes = 2\n", to: "second.toml")
            try FileManager.default.createSymbolicLink(atPath: folder.path, withDestinationPath: first)
            try await service.waitFor("lock.idle-minutes = 1")
            _ = try others.write("[lock]\nidle-minutes = 3\n", to: "first.toml")
            try await service.waitFor("lock.idle-minutes = 3")
            try FileManager.default.removeItem(atPath: folder.path)
            try FileManager.default.createSymbolicLink(atPath: folder.path, withDestinationPath: second)
            try await service.waitFor("lock.idle-minutes = 2")
        }
    }

    @Test("a mistake is logged, locks more, and leaves the other lines in force")
    func mistake_locksMore() async throws {
        try await run("[lock]\nidle-minutes = 5\n") { service, folder in
            try folder.write("[lock]\non-sleep = maybe\nidle-minutes = 6\n[access]\nask-at-read = \"*\"\n")
            try await service.waitFor("lock.on-sleep = true")
            #expect(try await service.has("lock.idle-minutes = 6"))
            #expect(try await service.has("access.ask-at-read = [\"*\"]"))
            _ = try await service.line("The configuration has a mistake")
        }
    }

    @Test("settings of the start stay, and the log says so")
    func host_changes_afterARestart() async throws {
        try await run(nil) { service, folder in
            // Answered once the file was read.
            #expect(try await service.has("lock.on-sleep = false"))
            try folder.write("[lock]\non-sleep = true\n[host]\nunlock-at-start = true\n")
            try await service.waitFor("lock.on-sleep = true")
            #expect(try await service.has("host.unlock-at-start = false"))
            _ = try await service.line("The settings of [host] and [security-key] take effect after a restart")
        }
    }

    @Test("lock rules apply at once, also to a screen that is locked already")
    func lockRules_applyAtOnce() async throws {
        let logind = try await FakeLogind()
        let environment = logind.environment.merging(["XDG_SESSION_ID": logind.session]) { $1 }
        try await run(nil, environment: environment) { service, folder in
            _ = try await service.line("Watching the session")
            try await logind.setLockedHint(true)
            _ = try await service.line("The session is locked")
            try folder.write("[lock]\non-screen-lock = true\non-sleep = true\n")
            _ = try await service.line("Locked a keychain")
            try await eventually("the delay of sleep") { try await !logind.inhibitors().isEmpty }
            try folder.write("")
            try await eventually("the end of the delay") { try await logind.inhibitors().isEmpty }
        }
    }

    @Test("a file that is written in a loop starves nobody, and the last content is in force")
    func file_writtenInALoop_starvesNobody() async throws {
        try await run(nil) { service, folder in
            let writer = Task.detached {
                var number = 0
                while !Task.isCancelled {
                    try folder.write("[lock]\nidle-minutes = \(number % 1000)\n")
                    number += 1
                }
            }
            try await service.waitFor("lock.idle-minutes = 0", isThere: false)
            for _ in 0..<200 { try await service.client.roundTrip() }
            writer.cancel()
            _ = await writer.result
            try folder.write("[lock]\nidle-minutes = 1111\n")
            try await service.waitFor("lock.idle-minutes = 1111")
        }
    }

    @Test("SIGHUP of a service manager reads the file again")
    func hangup_underAManager_reloads() async throws {
        let folder = try TemporaryFolder()
        try await run(nil, environment: ["NOTIFY_SOCKET": folder.path("notify")]) { service, _ in
            let lines = service.daemon.child.standardError.lines
            for _ in 0..<2 {
                let start = lines.count
                service.daemon.child.send(SIGHUP)
                _ = try await lines.first("the reading", after: start) { $0.contains("Reading the configuration") }
                try await service.client.roundTrip()
            }
        }
    }
}

extension RunningService {
    private static let status = "org.keychaind.Status1"

    fileprivate func has(_ setting: String, as other: SecretServiceProxy? = nil) async throws -> Bool {
        let service = SecretServiceProxy.service
        let settings = try await (other ?? client).property("Settings", of: service, Self.status, as: [String].self)
        return settings.contains(setting)
    }

    /// Polls, as settings have no signal.
    fileprivate func waitFor(_ setting: String, isThere: Bool = true) async throws {
        try await eventually("“\(setting)”") { try await has(setting) == isThere }
    }

    fileprivate func line(_ text: String) async throws -> String {
        try await daemon.child.standardError.lines.first("“\(text)” in the log") { $0.contains(text) }
    }
}

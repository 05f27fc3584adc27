import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Automatic locking by session events, as configured.
struct AutomaticLockingTests {
    /// A daemon with this configuration and a logind, with a keychain "Work" beside `login`.
    private func run(
        _ configuration: String?,
        _ body: (RunningService, FakeLogind, ConfigurationFolder) async throws -> Void
    ) async throws {
        let logind = try await FakeLogind()
        let folder = try ConfigurationFolder(configuration)
        var options = KeychainDaemon.Options()
        options.arguments = ["--verbose"]
        options.environment = logind.environment.merging(folder.environment) { $1 }
        options.environment["XDG_SESSION_ID"] = logind.session
        try await RunningService.withService(options) { service in
            _ = try await service.log("Watching the session")
            try await body(service, logind, folder)
        }
    }

    @Test("a configured keychain locks with the screen, and not before")
    func screenLocks_configured_locksOnlyThen() async throws {
        try await run("[lock]\non-screen-lock = true\n") { service, logind, _ in
            #expect(try await !service.isLocked)
            try await logind.send("Lock")
            _ = try await service.log("Locked a keychain")
            #expect(try await service.isLocked)
        }
    }

    @Test("without a configuration, the screen lock locks nothing")
    func screenLocks_notConfigured_nothingIsLocked() async throws {
        try await run(nil) { service, logind, _ in
            #expect(try await !service.isLocked)
            try await logind.setLockedHint(true)
            try await logind.setLockedHint(false)
            try await logind.removeSession(logind.session)
            // The end of the session locks; earlier events have arrived by then.
            _ = try await service.log("Locked a keychain")
            #expect(service.daemon.child.standardError.lines.all.count { $0.contains("Locked a keychain") } == 1)
        }
    }

    @Test("the end of one of two sessions locks nothing")
    func session_endsBesideAnother_nothingIsLocked() async throws {
        try await run("[lock]\non-screen-lock = true\n") { service, logind, _ in
            try await logind.addSession("c2")
            try await logind.removeSession(logind.session, display: "c2")
            _ = try await service.daemon.child.standardError.lines.first("the other") {
                $0.contains("Watching the session") && $0.contains("c2")
            }
            #expect(try await !service.isLocked)
            try await logind.send("Lock", to: "c2")
            _ = try await service.log("Locked a keychain")
        }
    }

    @Test("sleep is delayed until the configured keychains are locked")
    func sleep_configured_isDelayedUntilLocked() async throws {
        try await run("[keychain.login.lock]\non-sleep = true\n") { service, logind, _ in
            try await eventually("the delay of sleep") {
                try await logind.inhibitors() == [["sleep", "keychaind", "delay"]]
            }
            try await logind.prepareForSleep(true)
            try await eventually("the end of the delay") { try await logind.inhibitors().isEmpty }
            #expect(try await service.isLocked)
        }
    }

    @Test("without a configuration, sleep is not delayed")
    func sleep_notConfigured_isNotDelayed() async throws {
        try await run("[keychain.other.lock]\non-screen-lock = true\n") { service, logind, _ in
            try await logind.prepareForSleep(true)
            try await logind.setLockedHint(true)
            #expect(try await logind.inhibitors().isEmpty)
            #expect(try await !service.isLocked)
        }
    }

    // MARK: Mistakes

    @Test("a mistake in the configuration is logged with its line, and the other rules apply")
    func mistake_isToldWithItsPlaceAndTheRestApplies() async throws {
        try await run("[lock]\non-screen-lock = true\non-sleep = \"no\"\n") { service, logind, folder in
            let line = try await service.log("The configuration has a mistake")
            #expect(line.contains("\(folder.path):3:12: 'lock.on-sleep' must be true or false"))
            #expect(try await !service.isLocked)
            try await logind.setLockedHint(true)
            _ = try await service.log("Locked a keychain")
            #expect(try await service.isLocked)
        }
    }

    @Test("a mistake in the configuration is shown once there is a desktop, as a text and not as markup")
    func mistake_isShownByANotification() async throws {
        let configuration = "[lock]\non-sleep = 1\n\"<a>\" = 1\non-screen-lock = true\n"
        try await run(configuration) { service, _, folder in
            let desktop = try await FakeNotifications(on: service.bus)
            let body = try await desktop.bodies.first("the notification")
            let mistake = "\(folder.path):2:12: 'lock.on-sleep' must be true or false. There is one more mistake."
            #expect(body.hasPrefix(mistake))
            #expect(!body.contains("<"))
        }
    }

    @Test("a missing keychain in the configuration is logged once")
    func keychain_isNotThere_isToldOnce() async throws {
        let configuration =
            "[keychain.wrok.lock]\non-sleep = true\nidle-minutes = 1\n[keychain.login.lock]\non-sleep = true\n"
        try await run(configuration) { service, _, _ in
            let line = try await service.log("The configuration has rules for a keychain that is not there")
            #expect(line.contains("wrok"))
            let lines = service.daemon.child.standardError.lines.all
            #expect(lines.count { $0.contains("rules for a keychain") } == 1)
        }
    }

    @Test("a folder or FIFO instead of the file is logged and ignored")
    func file_isAFolderOrFIFO_isToldAndDoesNotCount() async throws {
        try await run(nil) { service, _, folder in
            for isFolder in [true, false] {
                try folder.replace(withFolder: isFolder)
                try await service.daemon.stop()
                var options = KeychainDaemon.Options()
                options.environment = folder.environment
                try await service.daemon.start(options)
                _ = try await service.log("The configuration cannot be read")
                #expect(try await !service.isLocked)
            }
        }
    }

    @Test("a missing system bus is logged once, and the service works")
    func noSystemBus_isSaidOnceAndServiceWorks() async throws {
        try await RunningService.withService { service in
            _ = try await service.log("Cannot find out whether the session is locked")
            #expect(try await !service.isLocked)
        }
    }
}

extension RunningService {
    /// Waits for a line in the daemon's log.
    fileprivate func log(_ text: String) async throws -> String {
        try await daemon.child.standardError.lines.first("“\(text)” in the log") { $0.contains(text) }
    }

    /// Whether `login` is locked.
    fileprivate var isLocked: Bool {
        get async throws {
            let login = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/login")
            return try await client.property("Locked", of: login, "org.freedesktop.Secret.Collection")
        }
    }
}

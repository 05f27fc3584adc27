import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// What a person is told by desktop notifications.
struct NoticeTests {
    private func run(
        _ configuration: String?,
        _ body: (RunningService, ConfigurationFolder, KeychainDaemon.Options) async throws -> Void
    ) async throws {
        let folder = try ConfigurationFolder(configuration)
        var options = KeychainDaemon.Options()
        options.environment = folder.environment
        try await RunningService.withService(options) { service in
            try await body(service, folder, options)
        }
    }

    // MARK: The configuration

    @Test("a mistake is told once, also across restarts, and again when it is another or returns")
    func mistake_isToldOnce() async throws {
        try await run("[lock]\non-sleep = 1\n") { service, folder, options in
            // The service for notifications starts after keychaind, as in a session.
            let desktop = try await FakeNotifications(on: service.bus)
            let first = try await desktop.shown.first("the notification")
            #expect(first.body.contains(":2:12: ") && first.actions.isEmpty)
            _ = try await desktop.acknowledged.first("the end of the notification's call")
            try await service.daemon.restart(options)
            try await service.client.roundTrip()
            let second = try await service.nextNotification(of: desktop, after: 1, ofAMistakeAt: ":3:") {
                try folder.write("[lock]\non-sleep = 2\non-screen-lock = 2\n")
            }
            #expect(second.body.contains("There is one more mistake."))
            #expect(desktop.shown.count == 2)
            try folder.write("")
            _ = try await desktop.withdrawn.first("the end of the notification") { $0 == second.number }
            try await service.daemon.stop()
            try folder.write("[lock]\non-sleep = 2\non-screen-lock = 2\n")
            try await service.daemon.start(options)
            _ = try await desktop.shown.first("the mistakes that are back", after: 2)
        }
    }

    @Test("a mistake that is mended and made again at once is told again")
    func mistake_thatReturnsAtOnce_isToldAgain() async throws {
        let mistake = "[lock]\non-sleep = 1\n"
        try await run(mistake) { service, folder, _ in
            let desktop = try await FakeNotifications(on: service.bus)
            let first = try await desktop.shown.first("the notification")
            try folder.write("")
            _ = try await desktop.withdrawn.first("the end of the notification") { $0 == first.number }
            let second = try await service.nextNotification(of: desktop, after: 1, ofAMistakeAt: ":2:") {
                try folder.write(mistake)
            }
            #expect(second.body == first.body)
        }
    }

    @Test("the button shows the file, and no other program can press it")
    func button_showsTheFile() async throws {
        try await run("[lock]\non-sleep = 1\n") { service, folder, _ in
            let manager = try await FakeFileManager(on: service.bus)
            let desktop = try await FakeNotifications(on: service.bus, capabilities: ["body", "actions"])
            let notification = try await desktop.shown.first("the notification")
            #expect(Array(notification.actions.values) == ["Show the File"])
            try await service.press(notification, as: "org.freedesktop.Notifications")
            #expect(manager.shown.count == 0)
            try await desktop.press("Show the File", of: notification)
            #expect(try await manager.shown.first("the file") == "file://\(folder.path)")
            // A button works once.
            try await desktop.press("Show the File", of: notification)
            try await service.client.roundTrip()
            #expect(manager.shown.count == 1)
        }
    }

    @Test("a configuration that changes in a loop is told at most once in ten seconds")
    func configuration_inALoop_isBounded() async throws {
        try await run(nil) { service, folder, _ in
            let desktop = try await FakeNotifications(on: service.bus)
            for number in 1...3 {
                try folder.write("[lock]\non-sleep = \(number)\nidle-minutes = \(number)\n")
                let client = service.client
                try await eventually("the settings of \(number)") {
                    try await client.settings().contains("lock.idle-minutes = \(number)")
                }
                // Later changes could be told with it.
                if number == 1 { _ = try await desktop.shown.first("the notification") }
            }
            #expect(desktop.shown.count == 1)
        }
    }

    // MARK: Keychains

    @Test("a keychain that cannot be read is told once, and the button restores its newest state")
    func unreadable_isToldAndRestored() async throws {
        try await RunningService.withService { service in
            let desktop = try await FakeNotifications(on: service.bus, capabilities: ["actions"])
            let session = try await service.client.openPlainSession()
            _ = try await service.client.createItem("kept", ["a": "b"], secret: "kept", session: session)
            _ = try await service.client.call(
                ObjectPath(unchecked: "/org/keychaind/Backups"),
                "org.keychaind.Backups1",
                "BackUp"
            )
            let locked = KeychainDaemon.Options(password: nil)
            let file = URL(fileURLWithPath: service.daemon.dataHome + "/keychaind/login.keychain")
            func damage() async throws {
                try await service.daemon.stop()
                try Data("no keychain".utf8).write(to: file)
                try await service.daemon.start(locked)
            }
            try await damage()
            let first = try await desktop.shown.first("the notification")
            #expect(first.summary == "A keychain cannot be read")
            #expect(first.body.contains("“keychainctl restore”"))
            let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
            try await desktop.press("Restore…", of: first)
            _ = try await desktop.withdrawn.first("the end of the notification") { $0 == first.number }
            #expect(prompter.questions.all.first?.text("message")?.contains("Restore the keychain") == true)
            await prompter.crash()
            #expect(try await service.client.searchItems(["a": "b"]).locked.count == 1)
            try await damage()
            _ = try await desktop.shown.first("the damage that is back", after: 1)
            _ = try await desktop.acknowledged.first("the end of the notification's call", after: 1)
            try await service.daemon.restart(locked)
            try await service.client.roundTrip()
            #expect(desktop.shown.count == 2)
        }
    }

    @Test("an older file that another program has put in place of an open keychain's is told, and a newer one is not")
    func olderFile_isTold() async throws {
        try await RunningService.withService { service in
            let desktop = try await FakeNotifications(on: service.bus, capabilities: ["actions"])
            let session = try await service.client.openPlainSession()
            func create(_ name: String) async throws {
                _ = try await service.client.createItem(name, ["name": name], secret: name, session: session)
            }
            func replace(by files: [String: Data]) async throws {
                try service.write(files)
                await #expect(throws: BusError.self) { try await create("not stored") }
            }
            try await create("first")
            let older = try service.loginFiles()
            try await create("second")
            let newer = try service.loginFiles()
            try await replace(by: older)
            let notification = try await desktop.shown.first("the notification")
            #expect(notification.summary == "A keychain was replaced by an older one")
            #expect(Array(notification.actions.values) == ["Restore…"])
            try await replace(by: newer)
            _ = try await desktop.withdrawn.first("the end of the notification") { $0 == notification.number }
            #expect(try await service.client.searchItems(["name": "second"]).unlocked.count == 1)
            #expect(desktop.shown.count == 1)
        }
    }

    @Test("an older file that was put in place while keychaind did not run is told, until a past state is restored")
    func olderFile_ofBeforeTheStart_isTold() async throws {
        try await RunningService.withService { service in
            let desktop = try await FakeNotifications(on: service.bus, capabilities: ["actions"])
            func create(_ name: String) async throws {
                let session = try await service.client.openPlainSession()
                _ = try await service.client.createItem(name, ["name": name], secret: name, session: session)
            }
            try await create("first")
            try await service.daemon.stop()
            let older = try service.loginFiles()
            try await service.daemon.start()
            try await create("second")
            _ = try await service.client.call(
                ObjectPath(unchecked: "/org/keychaind/Backups"),
                "org.keychaind.Backups1",
                "BackUp"
            )
            try await service.daemon.stop()
            try service.write(older)
            try await service.daemon.start()
            let notification = try await desktop.shown.first("the notification")
            #expect(notification.summary == "A keychain was replaced by an older one")
            let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
            try await desktop.press("Restore…", of: notification)
            _ = try await desktop.withdrawn.first("the end of the notification") { $0 == notification.number }
            await prompter.crash()
            #expect(try await service.client.searchItems(["name": "second"]).locked.count == 1)
            try await service.daemon.restart()
            #expect(try await service.client.searchItems(["name": "second"]).unlocked.count == 1)
            #expect(desktop.shown.count == 1)
        }
    }
}

extension RunningService {
    /// The notification after so many that a change causes, once the pause after the one before is over.
    fileprivate func nextNotification(
        of desktop: FakeNotifications,
        after count: Int,
        ofAMistakeAt place: String,
        _ change: () throws -> Void
    ) async throws -> FakeNotifications.Notification {
        let lines = daemon.child.standardError.lines
        let earlier = lines.count
        try change()
        // Reading the file has ten seconds, too.
        _ = try await lines.first("the reading", after: earlier) { line in line.contains("config.toml" + place) }
        // The pause may not have begun yet.
        try await eventually("the next notification") {
            try daemon.clock.pass(.seconds(10))
            try await client.roundTrip()
            return desktop.shown.count > count
        }
        return desktop.shown.all[count]
    }

    /// The files of `login`.
    fileprivate func loginFiles() throws -> [String: Data] {
        let folder = daemon.dataHome + "/keychaind/"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        return try Dictionary(
            uniqueKeysWithValues: names.filter { $0.hasPrefix("login.keychain") }.map { name in
                (name, try Data(contentsOf: URL(fileURLWithPath: folder + name)))
            }
        )
    }

    /// Puts files in the place of those of `login`, each at once.
    fileprivate func write(_ files: [String: Data]) throws {
        for (name, bytes) in files {
            try bytes.write(to: URL(fileURLWithPath: daemon.dataHome + "/keychaind/" + name), options: .atomic)
        }
    }
}

extension RunningService {
    /// Claims that a button of a notification was pressed.
    fileprivate func press(_ notification: FakeNotifications.Notification, as service: String) async throws {
        let forger = try await bus.connect()
        let path = ObjectPath(unchecked: "/org/freedesktop/Notifications")
        for key in notification.actions.keys {
            await forger.emit(path, service, "ActionInvoked") { writer in
                notification.number.write(to: &writer)
                key.write(to: &writer)
            }
        }
        await forger.close()
        try await client.roundTrip()
    }
}

extension SecretServiceProxy {
    fileprivate func settings() async throws -> [String] {
        try await property("Settings", of: Self.service, "org.keychaind.Status1")
    }
}

/// A desktop's file manager.
@BusActor
private final class FakeFileManager {
    /// The URIs that were to be shown.
    nonisolated let shown = Recorder<String>()
    private let connection: Connection

    private static let name = "org.freedesktop.FileManager1"

    private static let kind = ObjectKind<FakeFileManager>([
        Interface(
            name,
            methods: [
                Method("ShowItems", in: [Parameter("uris", [String].self), Parameter("id", String.self)]) {
                    (manager, call) throws(BusError) in
                    for uri in try call.arguments([String].self, String.self).0 { manager.shown.record(uri) }
                    call.reply()
                }
            ]
        )
    ])

    init(on bus: PrivateBus) throws {
        connection = try bus.connect()
        connection.server = ObjectServer(on: connection, limit: 10) { [weak self] (call) throws(BusError) in
            guard let self else { throw BusError(.unknownObject, "the file manager has ended") }
            return FakeFileManager.kind.target(self)
        }
        _ = try connection.requestName(Self.name)
    }

    isolated deinit {
        connection.close()
    }
}

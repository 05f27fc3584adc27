import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// The file of `login` is gone at the start of the daemon.
struct MissingKeychainTests {
    private let login = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/login")
    private let locked = KeychainDaemon.Options(password: nil)

    /// Runs a daemon without the file of its keychain, which has an item; `putBack` brings the file back.
    private func run(
        _ body: (_ service: RunningService, _ desktop: FakeNotifications, _ putBack: () throws -> Void) async throws
            -> Void
    ) async throws {
        try await RunningService.withService { service in
            let desktop = try await FakeNotifications(on: service.bus, capabilities: ["actions"])
            let session = try await service.client.openPlainSession()
            _ = try await service.client.createItem("kept", ["a": "b"], secret: "kept", session: session)
            try await service.daemon.stop()
            let file = URL(fileURLWithPath: service.daemon.dataHome + "/keychaind/login.keychain")
            let contents = try Data(contentsOf: file)
            try FileManager.default.removeItem(at: file)
            try await service.daemon.start(locked)
            let notification = try await desktop.shown.first("the notification")
            #expect(notification.body.contains("The file of the keychain “Login” is missing."))
            #expect(try await service.client.isCollectionLocked(login))
            // Nothing can be unlocked, and nobody is asked.
            #expect(try await service.client.unlock([login]).prompt == .root)
            try await body(service, desktop) { try contents.write(to: file) }
        }
    }

    /// Answers the dialog of an Unlock; returns whether the keychain is unlocked.
    private func unlock(_ service: RunningService, _ password: String) async throws -> Bool {
        let prompter = try await FakePrompter(on: service.bus, [.answer(password), .answer(password)])
        let prompt = try await service.client.unlock([login]).prompt
        _ = try await service.client.complete(prompt)
        await prompter.crash()
        return try await !service.client.isCollectionLocked(login)
    }

    @Test("a file that is put back is served from the next Unlock on")
    func fileThatIsPutBack_isServed() async throws {
        try await run { service, desktop, putBack in
            try putBack()
            _ = try await service.client.unlock([login])
            _ = try await desktop.withdrawn.first("the end of the notification")
            #expect(try await unlock(service, "password"))
            #expect(try await service.client.searchItems(["a": "b"]).unlocked.count == 1)
        }
    }

    @Test("a missing keychain is deleted after a confirmation, and begins anew")
    func delete_asksAPerson_andBeginsAnew() async throws {
        try await run { service, _, _ in
            let client = service.client
            let refusing = try await FakePrompter(on: service.bus, [.cancel])
            #expect(try await client.complete(client.deleteCollection(login)).isDismissed)
            await refusing.crash()
            #expect(try await service.client.unlock([login]).prompt == .root)
            let prompter = try await FakePrompter(on: service.bus, [.answer("")])
            #expect(try await !client.complete(client.deleteCollection(login)).isDismissed)
            #expect(prompter.questions.all.first?.text("description")?.contains("Its file is missing.") == true)
            await prompter.crash()
            #expect(try await unlock(service, "another"))
            try await service.daemon.restart(locked)
            #expect(try await unlock(service, "another"))
        }
    }
}

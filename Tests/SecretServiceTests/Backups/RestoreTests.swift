import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Restoring keychains over the bus, with the user's confirmation.
struct RestoreTests {
    private static let path = ObjectPath(unchecked: "/org/keychaind/Backups")
    private static let interface = "org.keychaind.Backups1"

    private func restore(_ file: String, as client: SecretServiceProxy) async throws -> ObjectPath {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        try #require(descriptor >= 0)
        let reply = try await client.call(Self.path, Self.interface, "Restore", FileDescriptor(owning: descriptor))
        return try reply.read(ObjectPath.self)
    }

    /// Copies `login` with one item, as a backup, and then adds another item; restarts the daemon in between.
    private func makeBackup(_ service: RunningService) async throws -> String {
        let session = try await service.client.openPlainSession()
        _ = try await service.client.createItem("old", ["a": "old"], secret: "old", session: session)
        try await service.daemon.stop()
        let folder = service.daemon.dataHome
        let copy = folder + "/login.keychain"
        try FileManager.default.copyItem(atPath: folder + "/keychaind/login.keychain", toPath: copy)
        try await service.daemon.start()
        let again = try await service.client.openPlainSession()
        _ = try await service.client.createItem("new", ["a": "new"], secret: "new", session: again)
        return copy
    }

    private func labels(_ client: SecretServiceProxy) async throws -> Int {
        try await client.property("Items", of: .login, "org.freedesktop.Secret.Collection", as: [ObjectPath].self).count
    }

    /// Restores with the user's answers; returns the questions.
    private func run(
        _ prompt: ObjectPath,
        _ service: RunningService,
        _ answers: [PromptResponse]
    ) async throws -> (outcome: PromptOutcome, questions: [PromptQuestion]) {
        let prompter = try await FakePrompter(on: service.bus, answers)
        let outcome = try await service.client.complete(prompt)
        await prompter.crash()
        return (outcome, prompter.questions.all)
    }

    @Test("if one password opens both, a restore asks once and locks the keychain")
    func restore_onePasswordOpensBoth_asksOnce_andLocks() async throws {
        try await RunningService.withService { service in
            let backup = try await makeBackup(service)
            #expect(try await labels(service.client) == 2)
            let prompt = try await restore(backup, as: service.client)
            // The file may change after this.
            try Data("nonsense".utf8).write(to: URL(fileURLWithPath: backup))
            let (outcome, questions) = try await run(prompt, service, [.answer("wrong"), .answer("password")])
            #expect(outcome.path == .login)
            #expect(questions.count == 2)
            #expect(questions[0].text("description")?.contains("It replaces the keychain “Login”") == true)
            #expect(questions[0].text("description")?.contains("with 2 items") == true)
            #expect(try await service.client.isCollectionLocked(.login))
            let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
            _ = try await service.client.complete(try await service.client.unlock([.login]).prompt)
            await prompter.crash()
            #expect(try await labels(service.client) == 1)
            let files = try FileManager.default.contentsOfDirectory(atPath: service.daemon.dataHome + "/keychaind")
            #expect(files.contains { name in name.hasPrefix("login.keychain-past-") })
        }
    }

    @Test("restoring another keychain of the name also needs its password")
    func restore_anotherKeychainOfTheName_takesItsPasswordToo() async throws {
        var options = KeychainDaemon.Options(password: "of another")
        options.arguments = []
        let other = try await RunningService(options)
        // Answered after the keychain is restored.
        _ = try await other.client.openPlainSession()
        try await other.daemon.stop()
        let foreign = other.daemon.dataHome + "/login.keychain"
        try FileManager.default.copyItem(atPath: other.daemon.dataHome + "/keychaind/login.keychain", toPath: foreign)
        try await RunningService.withService { service in
            _ = try await service.client.openPlainSession()
            // An attacker's keychain and prompter, which knows only that keychain's password.
            let prompt = try await restore(foreign, as: service.client)
            let refused = try await run(prompt, service, [.answer("of another"), .answer("of another"), .cancel])
            #expect(refused.outcome.isDismissed)
            #expect(refused.questions.count == 3)
            #expect(try await !service.client.isCollectionLocked(.login))
            let again = try await restore(foreign, as: service.client)
            let done = try await run(again, service, [.answer("of another"), .answer("password")])
            #expect(done.outcome.path == .login)
            #expect(done.questions[0].text("description")?.contains("It is another keychain") == true)
        }
    }

    @Test("a cancelled restore changes nothing")
    func restore_cancelled_leavesEverything() async throws {
        try await RunningService.withService { service in
            let backup = try await makeBackup(service)
            let prompt = try await restore(backup, as: service.client)
            #expect(try await run(prompt, service, [.cancel]).outcome.isDismissed)
            #expect(try await labels(service.client) == 2)
            let files = try FileManager.default.contentsOfDirectory(atPath: service.daemon.dataHome + "/keychaind")
            #expect(!files.contains { $0.hasPrefix("restore-") })
        }
    }

    @Test("wrong passwords for a restore are delayed")
    func restore_wrongPasswords_costTime() async throws {
        try await RunningService.withService { service in
            let prompt = try await restore(try await makeBackup(service), as: service.client)
            let wrong = [PromptResponse](repeating: .answer("wrong"), count: 8) + [.cancel]
            let questions = try await run(prompt, service, wrong).questions
            #expect(questions.contains { $0.text("warning")?.contains("Too many passwords were wrong") == true })
            // The passcode's delays and failures are unchanged: guessing here reveals nothing about it.
            let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
            try await service.client.lock([.login])
            let outcome = try await service.client.complete(try await service.client.unlock([.login]).prompt)
            await prompter.crash()
            #expect(!outcome.isDismissed)
        }
    }

    @Test("restoring a file that is no keychain is InvalidArgs")
    func restore_whatIsNoKeychain_isAnInvalidArgument() async throws {
        try await RunningService.withService { service in
            _ = try await service.client.openPlainSession()
            let folder = service.daemon.dataHome
            try Data("no keychain".utf8).write(to: URL(fileURLWithPath: folder + "/text"))
            mkfifo(folder + "/pipe", 0o600)
            for file in ["\(folder)/text", "\(folder)/pipe", folder, "/dev/zero"] {
                await #expect(throws: BusError(.invalidArguments, "")) {
                    _ = try await restore(file, as: service.client)
                }
            }
            truncate(folder + "/text", off_t(1) << 30 + 1)
            await #expect(throws: BusError(.limitsExceeded, "")) {
                _ = try await restore(folder + "/text", as: service.client)
            }
        }
    }

    @Test("a third restore at a time is refused until one has ended")
    func restore_aThirdAtATime_isRefused_untilOneHasEnded() async throws {
        try await RunningService.withService { service in
            let backup = try await makeBackup(service)
            let first = try await restore(backup, as: service.client)
            let other = try await service.makeClient()
            _ = try await restore(backup, as: other)
            await #expect(throws: BusError(.limitsExceeded, "")) {
                _ = try await restore(backup, as: service.client)
            }
            await #expect(throws: BusError(.limitsExceeded, "")) { _ = try await restore(backup, as: other) }
            try await service.client.dismiss(first)
            _ = try await service.client.completion(of: first)
            _ = try await restore(backup, as: service.client)
        }
    }

    @Test("restores that nobody runs give way to another client's, and one that is run does not")
    func restore_notRun_givesWay() async throws {
        try await RunningService.withService { service in
            let backup = try await makeBackup(service)
            let idle = try await service.makeClient()
            let first = try await restore(backup, as: idle)
            let alsoIdle = try await service.makeClient()
            let second = try await restore(backup, as: alsoIdle)
            let prompt = try await restore(backup, as: service.client)
            #expect(try await idle.completion(of: first).isDismissed)
            let prompter = try await FakePrompter(on: service.bus, [.hang])
            try await service.client.show(prompt)
            _ = try await prompter.questions.first("the dialog") { _ in true }
            let other = try await service.makeClient()
            _ = try await restore(backup, as: other)
            #expect(try await alsoIdle.completion(of: second).isDismissed)
            // The place of the dialog stays taken; that of the other client is free again.
            let third = try await service.makeClient()
            _ = try await restore(backup, as: third)
            await #expect(throws: BusError(.limitsExceeded, "")) { _ = try await restore(backup, as: third) }
            try await service.client.dismiss(prompt)
            _ = try await service.client.completion(of: prompt)
            await prompter.crash()
        }
    }
}

import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

@Suite("The first minute")
struct FirstMinuteTests {
    @Test("The first dialog says what the password is for, and a notification how to be safe from forgetting it")
    func firstPassword_isExplained() async throws {
        let bus = try await PrivateBus()
        let desktop = try await FakeNotifications(on: bus)
        let daemon = try await KeychainDaemon(on: bus, KeychainDaemon.Options(password: nil))
        let prompter = try await FakePrompter(on: bus, [.answer("password")])
        let store = try await Command.run(
            "secret-tool",
            ["store", "--label=Bank", "service", "bank"],
            environment: daemon.environment,
            input: Array("secret".utf8)
        )
        #expect(store.succeeded, "\(store.errors)")
        let text = try #require(prompter.questions.all.first?.text("description"))
        #expect(text.contains("Use your login password"))
        #expect(text.contains("If you forget this password, nobody can read"))
        #expect(prompter.questions.count == 1)
        let body = try await desktop.bodies.first("a notification")
        #expect(body.contains("keychainctl recovery-key"))
        try await prompter.end()
    }

    @Test("A recovery key is made by a command, shown once and refused without a yes")
    func recoveryKey_isMade() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            let first = try await provider.answerPrompts(.answer("password"), .cancel)
            let refused = try await Keychainctl.run("recovery-key", on: provider.bus)
            #expect(refused.status == .exited(5), "\(refused.errors)")
            try await first.end()
            let second = try await provider.answerPrompts(.answer("password"), .answer(""))
            let made = try await Keychainctl.run("recovery-key", on: provider.bus)
            #expect(made.succeeded, "\(made.errors)")
            #expect(second.questions.count == 2)
            try await second.end()
            let none = try await Keychainctl.run("recovery-key", "--keychain", "none", on: provider.bus)
            #expect(none.status == .exited(3), "\(none.errors)")
        }
    }
}

/// The built `keychainctl`.
private enum Keychainctl {
    static func run(_ arguments: String..., on bus: PrivateBus) async throws -> CommandResult {
        let folder = URL(fileURLWithPath: KeychainDaemon.executable).deletingLastPathComponent().path
        return try await Command.run(folder + "/keychainctl", arguments, environment: bus.environment)
    }
}

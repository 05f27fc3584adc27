import KeychaindTestSupport
import Testing

/// `keychainctl slot` with a virtual security key.
struct SecurityKeyCommandTests {
    @Test("A security key is added, listed and used; one that cannot be added is refused with the reason")
    func slot_securityKey_life() async throws {
        let ports = try SecurityKeyPorts()
        let folder = try ConfigurationFolder(ports.configuration)
        var options = KeychainDaemon.Options()
        options.environment = folder.environment
        try await RunningService.withService(options) { service in
            func run(_ arguments: String..., answering answers: [PromptResponse]) async throws -> CommandResult {
                let prompter = try await FakePrompter(on: service.bus, answers)
                await prompter.ignoreConfirmations()
                let environment = service.bus.environment
                let result = try await Command.run(ImportHome.executable, arguments, environment: environment)
                try await prompter.end()
                return result
            }
            let none = try await run("slot", "add", "--fido2", answering: [.answer("password")])
            #expect(
                none.status == .exited(7) && none.errors.contains("No security key is plugged in."),
                "\(none.errors)"
            )
            let wrong = try await run("slot", "add", "--fido2", answering: [.cancel])
            #expect(wrong.status == .exited(5), "\(wrong.errors)")
            let useless = try await run("slot", "add", "--password", "--pin", answering: [.cancel])
            #expect(
                useless.status == .exited(64) && useless.errors.contains("--pin needs --fido2"),
                "\(useless.errors)"
            )
            let key = try await ports.plugIn("key")
            try key.set(pin: "1234")
            try key.touch(times: 2)
            let added = try await run(
                "slot",
                "add",
                "--fido2",
                "--pin",
                "--label",
                "blue",
                answering: [.answer("password"), .answer("1234")]
            )
            #expect(added.succeeded, "\(added.errors)")
            let list = try await run("slot", "list", answering: [])
            #expect(list.text.contains("2\tsecurity-key\t") && list.text.contains("\tblue"), "\(list.text)")
            #expect(try await run("lock", answering: []).succeeded)
            try key.touch()
            let unlocked = try await run("unlock", answering: [.answer(""), .answer("1234")])
            #expect(unlocked.succeeded, "\(unlocked.errors)")
            #expect(try await run("status", answering: []).text.contains("opened by a security key"))
        }
    }
}

import KeychaindTestSupport
import SecretServiceClient
import Testing

/// `keychainctl slot add --login`.
struct LoginSlotCommandTests {
    @Test("A keychain opens together with the login keychain until the slot is removed")
    func slot_login_life() async throws {
        try await Controlled.with { controlled in
            let work = try await controlled.addKeychain("Work")
            let unnamed = try await controlled.run("slot", "add", "--login")
            #expect(
                unnamed.status == .exited(64) && unnamed.errors.contains("--login needs --keychain"),
                "\(unnamed.errors)"
            )
            let itself = try await controlled.run("slot", "add", "--login", "--keychain", "Login")
            #expect(itself.status == .exited(7), "\(itself.errors)")
            let slot = ["slot", "add", "--login", "--keychain", "Work"]
            let added = try await run(slot, controlled, answering: .answer("second"))
            #expect(added.succeeded, "\(added.errors)")
            let list = try await controlled.run("slot", "list", "--keychain", "Work")
            #expect(list.text.contains("2\tlogin\t"), "\(list.text)")
            try await reopenLogin(controlled)
            #expect(try await !work.isLocked())
            #expect(try await controlled.run("status").text.contains("opened by the login keychain"))
            let remove = ["slot", "remove", "2", "--keychain", "Work"]
            let removed = try await run(remove, controlled, answering: .answer("second"))
            #expect(removed.succeeded, "\(removed.errors)")
            try await reopenLogin(controlled)
            #expect(try await work.isLocked())
        }
    }

    private func run(
        _ arguments: [String],
        _ controlled: Controlled,
        answering answer: PromptResponse
    ) async throws -> CommandResult {
        let prompter = try await FakePrompter(on: controlled.provider.bus, [answer])
        let result = try await controlled.run(arguments, input: [])
        try await prompter.end()
        return result
    }

    /// Locks all keychains, and opens the login keychain with its password.
    private func reopenLogin(_ controlled: Controlled) async throws {
        #expect(try await controlled.run("lock").succeeded)
        let unlock = try await controlled.run("unlock", "Login", "--password-fd", "0", input: "password")
        #expect(unlock.succeeded, "\(unlock.errors)")
    }
}

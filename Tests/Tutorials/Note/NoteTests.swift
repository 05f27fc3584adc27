import KeychaindTestSupport
import SecretServiceClient
import Security
import SwiftUI
import Testing

/// The note-taking app's wrapper, its store and its toolbar do what their tutorial says.
struct NoteTests {
    @Test("A password is set, read, changed and reset")
    func password_setReadChangedReset() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            try KeychainBus.$current.withValue(.address(provider.bus.address)) { try use(KeychainWrapper()) }
        }
    }

    private func use(_ wrapper: KeychainWrapper) throws {
        let (account, service) = ("RWQuickNote", "unlockPassword")
        #expect(throws: KeychainWrapperError.self) {
            try wrapper.getGenericPasswordFor(account: account, service: service)
        }
        try wrapper.storeGenericPasswordFor(account: account, service: service, password: "first")
        #expect(try wrapper.getGenericPasswordFor(account: account, service: service) == "first")
        try wrapper.storeGenericPasswordFor(account: account, service: service, password: "second")
        #expect(try wrapper.getGenericPasswordFor(account: account, service: service) == "second")
        try wrapper.storeGenericPasswordFor(account: account, service: service, password: "")
        #expect(throws: KeychainWrapperError.self) {
            try wrapper.updateGenericPasswordFor(account: account, service: service, password: "x")
        }
        try wrapper.deleteGenericPasswordFor(account: account, service: service)
    }

    @Test("The app's store has no password at first, and then the last one that was set")
    func store_keepsThePassword() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            KeychainBus.$current.withValue(.address(provider.bus.address)) {
                let data = NoteData()
                #expect(data.isPasswordBlank)
                for password in ["first", "second"] {
                    data.updateStoredPassword(password)
                    #expect(data.getStoredPassword() == password)
                }
                data.updateStoredPassword("")
                #expect(data.isPasswordBlank)
            }
        }
    }

    // MARK: The lock button

    @MainActor
    @Test("A matching touch unlocks the note")
    func lock_matchingTouch_unlocks() async throws {
        let reader = try await VirtualReader()
        try await reader.enrol()
        try await withPerson([.hang], reader.environment) { prompter in
            let app = NoteApp()
            #expect(app.toolbar.press("Lock"))
            try await reader.touch("owner")
            #expect(try await app.changes.first("the end of the authentication") == "unlocked")
            #expect(getBiometricType() == "lock")
            #expect(prompter.questions.all.last?.text("description")?.contains("unlock your note") == true)
            #expect(app.toolbar.press("Lock"))
            #expect(app.changes.all == ["unlocked", "locked"])
        }
    }

    @MainActor
    @Test("A touch that does not match, and Cancel: the password is asked for")
    func lock_nonMatchingTouch_asksForThePassword() async throws {
        let reader = try await VirtualReader()
        try await reader.enrol()
        try await withPerson([.hang], reader.environment) { _ in
            let app = NoteApp()
            #expect(app.toolbar.press("Lock"))
            for _ in 0..<5 { try await reader.touch("stranger") }
            #expect(try await app.changes.first("the end of the authentication") == "password")
        }
    }

    @MainActor
    @Test(
        "Where no finger is enrolled, or there is no reader, the password is asked for at once",
        arguments: [true, false]
    )
    func lock_noFinger_asksForThePassword(hasReader: Bool) async throws {
        let reader = hasReader ? try await VirtualReader() : nil
        try await withPerson([.hang], reader?.environment ?? [:]) { prompter in
            let app = NoteApp()
            #expect(app.toolbar.press("Lock"))
            #expect(app.changes.all == ["password"])
            #expect(prompter.questions.count == 0)
        }
    }

    @MainActor
    private func withPerson(
        _ responses: [PromptResponse],
        _ environment: [String: String?],
        _ body: @MainActor (FakePrompter) async throws -> Void
    ) async throws {
        var options = KeychainDaemon.Options()
        options.environment = environment
        let service = try await RunningService(options)
        let prompter = try await FakePrompter(on: service.bus, responses)
        try await KeychainBus.$current.withValue(.address(service.bus.address)) { try await body(prompter) }
        await prompter.crash()
    }
}

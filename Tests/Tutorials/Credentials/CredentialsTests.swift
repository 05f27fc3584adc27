import KeychaindTestSupport
import LocalAuthentication
import SecretServiceClient
import SwiftUI
import Testing

/// The text's view adds, reads and deletes credentials, and asks the person for them.
struct CredentialsTests {
    @MainActor
    @Test("Credentials are added, read after an authentication, and deleted")
    func buttons_addReadAndDelete() async throws {
        let service = try await RunningService()
        let prompter = try await FakePrompter(on: service.bus, [.answer("password"), .cancel, .answer("password")])
        KeychainBus.$current.withValue(.address(service.bus.address)) {
            let view = ContentView()
            #expect(view.texts == [""])
            #expect(view.press("add"))
            #expect(view.texts == ["Added credentials."])
            #expect(view.press("read"))
            #expect(view.texts == ["Read credentials: appleseed/1234"])
            let description = prompter.questions.all.first?.text("description")
            #expect(description?.contains("Access your password on the keychain") == true)
            // The person says no.
            #expect(throws: KeychainError.self) { try readCredentials(server: server) }
            #expect(view.press("delete"))
            #expect(view.texts == ["Deleted credentials."])
            #expect(throws: KeychainError.self) { try deleteCredentials(server: server) }
            #expect(KeychainError(status: errSecDuplicateItem).localizedDescription.contains("already exists"))
        }
        await prompter.crash()
    }
}

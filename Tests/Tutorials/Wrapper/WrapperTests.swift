import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

/// The subscript wrapper does what its text says.
struct WrapperTests {
    @Test("A value is set, read, changed and deleted by subscript, and does not meet another service's")
    func subscript_setReadChangeDelete() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            KeychainBus.$current.withValue(.address(provider.bus.address)) {
                use(KeychainWrapper(service: "myService"))
            }
        }
    }

    private func use(_ keychain: KeychainWrapper) {
        #expect(keychain["username"] == nil)
        keychain["username"] = "12345"
        #expect(keychain["username"] == "12345")
        keychain["username"] = "67890"
        #expect(keychain["username"] == "67890")
        #expect(KeychainWrapper(service: "another")["username"] == nil)
        keychain["username"] = nil
        #expect(keychain["username"] == nil)
        #expect(!keychain.del(valueForKey: "username"))
    }
}

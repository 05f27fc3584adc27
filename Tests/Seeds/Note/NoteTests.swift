import SecretServiceClient
import Security
import TestSupport
import Testing

/// The note-taking app's wrapper does what its tutorial says.
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
}

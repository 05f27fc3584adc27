import KeychaindTestSupport
import Testing

/// The password on standard input.
@Suite struct PasswordTests {
    /// Whether `login` is locked after the daemon read this input.
    private func isLocked(_ daemon: KeychainDaemon, after input: String) async throws -> Bool {
        try await daemon.restart(KeychainDaemon.Options(password: input))
        return try await SecretServiceProxy(on: daemon.bus).isCollectionLocked(SecretServiceProxy.defaultAlias)
    }

    @Test("one newline at the end is not part of the password")
    func unlock_withOneNewlineAtTheEnd_leavesItOut() async throws {
        let daemon = try await KeychainDaemon(on: PrivateBus(), KeychainDaemon.Options(password: "pass word\n"))
        #expect(try await isLocked(daemon, after: "pass word") == false)
        #expect(try await isLocked(daemon, after: "pass word\n") == false)
        #expect(try await isLocked(daemon, after: "pass word\n\n"))
        #expect(try await isLocked(daemon, after: "pass word "))
        try await daemon.stop()
    }

    @Test("an empty password creates no collection", arguments: ["", "\n"])
    func unlock_withEmptyPassword_makesNoCollection(input: String) async throws {
        let daemon = try await KeychainDaemon(on: PrivateBus(), KeychainDaemon.Options(password: input))
        let client = try await SecretServiceProxy(on: daemon.bus)
        #expect(try await client.isCollectionLocked(SecretServiceProxy.defaultAlias))
        #expect(FileMode.below(daemon.dataHome)["keychaind/login.keychain"] == nil)
        try await daemon.stop()
        #expect(try await daemon.child.standardError.text().contains("The keychain 'login' stays locked"))
    }

    @Test("an endless input leaves login locked, and the daemon serves")
    func unlock_withEndlessInput_staysLockedAndServes() async throws {
        let endless = String(repeating: "x", count: 1 << 20)
        let daemon = try await KeychainDaemon(on: PrivateBus(), KeychainDaemon.Options(password: endless))
        let client = try await SecretServiceProxy(on: daemon.bus)
        #expect(try await client.isCollectionLocked(SecretServiceProxy.defaultAlias))
        #expect(try await daemon.stop() == .success)
        #expect(try await daemon.child.standardError.text().contains("longer than 4096 bytes"))
    }

    @Test("the longest password of any bytes unlocks login")
    func unlock_withLongestPasswordOfAnyBytes_works() async throws {
        let password = String(repeating: "ü\u{1}", count: 1365) + "!"
        let daemon = try await KeychainDaemon(on: PrivateBus(), KeychainDaemon.Options(password: password))
        #expect(try await isLocked(daemon, after: password) == false)
        #expect(try await isLocked(daemon, after: String(password.dropLast())))
        try await daemon.stop()
    }

    @Test("with a wrong password, the daemon serves and keeps everything")
    func unlock_withWrongPassword_keepsServingAndLosesNothing() async throws {
        let service = try await RunningService()
        let session = try await service.client.openPlainSession()
        let item = try await service.client.createItem("label", ["a": "b"], secret: "kept", session: session)
        #expect(try await isLocked(service.daemon, after: "wrong"))
        let client = try await service.makeClient()
        #expect(try await client.searchItems(["a": "b"]).locked == [item])
        #expect(try await isLocked(service.daemon, after: "password") == false)
        let other = try await service.makeClient()
        #expect(try await other.secretText(of: item, session: other.openPlainSession()) == "kept")
        try await service.daemon.stop()
    }
}

import Foundation
import KeychaindDBus
import KeychaindGcrypt
import KeychaindTestSupport
import Testing

/// The memory of an unlocked, idle daemon after a dialog.
// Only root can read the daemon's memory.
@Suite(.enabled(if: getuid() == 0, "the daemon's memory can be read by root only"))
struct SecretMemoryTests {
    @Test("a sealed secret and the passcode are not in memory")
    func sealedSecret_andPasscode_areNotInIdleMemory() async throws {
        let passcode = "passcode \(UUID().uuidString)"
        let secret = "secret \(UUID().uuidString)"
        let service = try await RunningService(KeychainDaemon.Options(password: passcode))
        let prompter = try await FakePrompter(on: service.bus, [.answer(passcode)])
        let client = service.client
        let session = try await client.openPlainSession()
        let item = try await client.createItem(
            "sealed",
            ["keychain:access-control": "devicePasscode"],
            secret: secret,
            session: session
        )
        #expect(try await client.complete(client.unlock([item]).prompt).paths == [item.rawValue])
        #expect(try await client.secretText(of: item, session: session) == secret)
        try await client.lock([item])
        try await openInAContext(item, as: client)
        #expect(
            try await !client.isCollectionLocked(ObjectPath(unchecked: "/org/freedesktop/secrets/collection/login"))
        )
        try await DaemonMemory(of: service.daemon)
            .waitUntilGone([passcode, secret], what: "the passcode or the secret")
        await prompter.crash()
        try await service.daemon.stop()
    }

    @Test("a recovery key and changed passwords are not in memory")
    func recoveryKey_andChangedPasswords_areNotInIdleMemory() async throws {
        let (old, new) = ("old \(UUID().uuidString)", "new \(UUID().uuidString)")
        let service = try await RunningService(KeychainDaemon.Options(password: old))
        let prompter = try await FakePrompter(on: service.bus, [.answer(old)])
        let client = service.client
        let session = try await client.openPlainSession()
        let login = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/login")
        let key = try await client.call(login, "org.keychaind.KeySlots1", "MakeRecoveryKey", session, "")
            .read(WireSecret.self)
        await prompter.crash()
        try await client.call(
            SecretServiceProxy.service,
            "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface",
            "ChangeWithMasterPassword",
            login,
            WireSecret(session: session, value: Array(old.utf8)),
            WireSecret(session: session, value: Array(new.utf8))
        )
        let text = String(decoding: key.value, as: UTF8.self)
        try await DaemonMemory(of: service.daemon)
            .waitUntilGone([text, text.replacing("-", with: ""), old, new], what: "the key or a password")
        try await service.daemon.stop()
    }

    @Test("the PIN of a security key is not in memory")
    func pinOfASecurityKey_isNotInIdleMemory() async throws {
        let pin = UUID().uuidString
        let ports = try SecurityKeyPorts()
        let folder = try ConfigurationFolder(ports.configuration)
        var options = KeychainDaemon.Options()
        options.environment = folder.environment
        let service = try await RunningService(options)
        let key = try await ports.plugIn("key")
        try key.set(pin: pin)
        try key.touch(times: 2)
        let prompter = try await FakePrompter(on: service.bus, [.answer("password"), .answer("4321"), .answer(pin)])
        await prompter.ignoreConfirmations()
        let login = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/login")
        let prompt = try await service.client.call(login, "org.keychaind.KeySlots1", "AddSecurityKey", "", true)
            .read(ObjectPath.self)
        #expect(try await !service.client.complete(prompt).isDismissed)
        try await DaemonMemory(of: service.daemon).waitUntilGone([pin], what: "the PIN")
        await prompter.crash()
        try await service.daemon.stop()
    }

    /// Unlocks an item through a context, which keeps the unsealed keys until it ends.
    private func openInAContext(_ item: ObjectPath, as client: SecretServiceProxy) async throws {
        let authentication = "org.keychaind.Authentication1"
        let root = ObjectPath(unchecked: "/org/keychaind/Authentication")
        let context = try await client.call(root, authentication, "CreateContext").read(ObjectPath.self)
        let interface = "\(authentication).Context"
        try await client.call(context, interface, "EvaluatePolicy", "deviceOwnerAuthentication", "")
        let unlocked = try await client.call(context, interface, "Unlock", [item])
            .read([ObjectPath].self, ObjectPath.self).0
        #expect(unlocked == [item])
        try await client.call(context, interface, "Invalidate")
        try await client.lock([item])
    }
}

import DBus
import Foundation
import Gcrypt
import TestSupport
import Testing

/// What an unlocked, idle daemon has in its memory.
@Suite struct SecretMemoryTests {
    // The daemon's memory is closed to everybody else.
    @Test(.enabled(if: getuid() == 0, "the daemon's memory can be read by root only"))
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
        // Other traffic, as an idle daemon has it, and a client that leaves.
        try await service.makeClient().roundTrip()
        #expect(
            try await !client.isCollectionLocked(ObjectPath(unchecked: "/org/freedesktop/secrets/collection/login"))
        )
        let found = try await Command.python(
            SecretMemoryTests.scan,
            [String(service.daemon.child.id), complement(of: passcode), complement(of: secret)],
            environment: service.daemon.environment
        )
        #expect(found.text == "0 0\n", "\(found.text) \(found.errors)")
        await prompter.crash()
        try await service.daemon.stop()
    }

    @Test(.enabled(if: getuid() == 0, "the daemon's memory can be read by root only"))
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
        // Other traffic: libdbus reads the next message into the same buffer.
        _ = try await client.searchItems(["filler": String(repeating: "x", count: 2000)])
        try await service.makeClient().roundTrip()
        let text = String(decoding: key.value, as: UTF8.self)
        let found = try await Command.python(
            SecretMemoryTests.scan,
            [String(service.daemon.child.id)]
                + [text, text.replacing("-", with: ""), old, new].map { complement(of: $0) },
            environment: service.daemon.environment
        )
        #expect(found.text == "0 0 0 0\n", "\(found.text) \(found.errors)")
        try await service.daemon.stop()
    }

    /// Unlocks an item by a context, which keeps what the passcode gave until it ends.
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

    /// So that the arguments of the process that looks do not hold what it looks for.
    private func complement(of text: String) -> String {
        text.utf8.map { String(format: "%02x", ~$0) }.joined()
    }

    /// Counts occurrences in all memory that the process can write.
    private static let scan = """
        import sys
        process, patterns = sys.argv[1], [bytes(b ^ 255 for b in bytes.fromhex(a)) for a in sys.argv[2:]]
        counts = [0] * len(patterns)
        with open(f'/proc/{process}/mem', 'rb', 0) as memory:
            for line in open(f'/proc/{process}/maps'):
                addresses, permissions = line.split()[:2]
                if 'w' not in permissions:
                    continue
                start, end = (int(a, 16) for a in addresses.split('-'))
                try:
                    memory.seek(start)
                    data = memory.read(end - start)
                except (OSError, OverflowError, ValueError):
                    continue
                counts = [count + data.count(pattern) for count, pattern in zip(counts, patterns)]
        print(*counts)
        """
}

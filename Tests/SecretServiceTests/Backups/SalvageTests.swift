import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

struct SalvageTests {
    private static let path = ObjectPath(unchecked: "/org/keychaind/Backups")
    private static let interface = "org.keychaind.Backups1"
    private static let file = "keychain:login"

    private func problem(_ client: SecretServiceProxy) async throws -> String {
        try await client.property("Problem", of: .login, "org.keychaind.Collection1")
    }

    @Test("damage that a check finds is signalled at once, and a salvage keeps the secret that is in memory")
    func damage_foundByACheck_isTold_andTheSecretInMemoryIsKept() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let item = try await client.createItem(secret: "kept", session: client.openPlainSession())
            try await service.daemon.stop()
            let file = service.daemon.dataHome + "/keychaind/login.keychain"
            let secret = try LogImage(at: file).last(LogImage.item, 1).secret
            try await service.daemon.start()
            let session = try await client.openPlainSession()
            #expect(try await client.secretText(of: item, session: session) == "kept")
            await #expect(throws: BusError(.notSupported, "")) {
                try await client.call(Self.path, Self.interface, "Salvage", Self.file)
            }
            try LogImage.overwrite(secret, of: file)

            let mark = client.signals.count
            let reply = try await client.call(Self.path, Self.interface, "Check", Self.file)
            let (items, intact, _, findings) = try reply.read(UInt64.self, UInt64.self, UInt8.self, [String].self)
            #expect(items == 1 && intact == 0 && findings.count == 1)
            let told = client.signals.all.dropFirst(mark).compactMap { signal in
                signal.changedProperties?.values["Problem"]
            }
            let problem = try await problem(client)
            #expect(told == [.string(problem)] && problem.contains("keychainctl salvage"))
            #expect(try await client.secretText(of: item, session: session) == "kept")

            let prompt = try await client.call(Self.path, Self.interface, "Salvage", Self.file).read(ObjectPath.self)
            let prompter = try await FakePrompter(on: service.bus, [.answer("")])
            #expect(try await client.complete(prompt).path == .login)
            await prompter.crash()
            #expect(try await self.problem(client).isEmpty)
            #expect(try await client.secretText(of: item, session: session) == "kept")
            try await service.daemon.stop()
            try await service.daemon.start()
            #expect(try await client.secretText(of: item, session: client.openPlainSession()) == "kept")
        }
    }
}

import Dispatch
import KeychaindDBus
import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Clients whose calls derive keys, beside a person who waits for one.
@Suite(.onLoop)
struct DerivationTurnTests {
    /// A host that keeps the thread for derivations until it may seal.
    private final class WaitingHost: HostSealer {
        let calls = Recorder<String>()
        private let gate = DispatchSemaphore(value: 0)

        func open() {
            gate.signal()
        }

        func check() throws(VaultError) {}

        func seal(_ key: borrowing SecureBytes) throws(VaultError) -> [UInt8] {
            calls.record("seal")
            gate.wait()
            // The next one need not wait.
            gate.signal()
            return [1]
        }

        func unseal(_ sealed: [UInt8]) throws(VaultError) -> SecureBytes {
            throw VaultError(.hostNotAvailable, reason: "it only seals")
        }
    }

    @BusActor
    private func add(_ host: WaitingHost, to collection: Collection) -> Task<Void, any Error> {
        Task.immediate { @BusActor in
            try await collection.addHost(host, openedBy: try ProviderInProcess.bytes(ProviderInProcess.password))
        }
    }

    @Test("A person's key is not derived after all of a client's")
    @BusActor
    func person_besideManyCallsOfAClient_waitsForOne() async throws {
        let service = try await ProviderInProcess()
        let login = try service.collection(.login)
        let (first, second) = (WaitingHost(), WaitingHost())
        let holding = add(first, to: login)
        _ = try await first.calls.first("the first derivation") { _ in true }
        let client = try RawClient(service.bus.address)
        client.send(
            call(SecretServiceProxy.Interface.service, "OpenSession", "plain", Variant.string(""))
        )
        let opening = try #require(await client.replies(1).first)
        let session = try opening.read(Variant.self, ObjectPath.self).1
        let (properties, password) = ([String: Variant](), WireSecret.password("new", session))
        for _ in 0..<4 {
            client.send(
                call(SecretServiceProxy.masterPasswords, "CreateWithMasterPassword", properties, password)
            )
        }
        // Its answer tells that the others were received.
        client.send(call("org.freedesktop.DBus.Peer", "Ping"))
        _ = await client.replies(1)
        let waiting = add(second, to: login)
        first.open()
        _ = try await second.calls.first("the second derivation") { _ in true }
        let new = service.vault.collections.filter { $0.state == .unlocked && !$0.isEphemeral }
        #expect(new.count <= 1)
        second.open()
        try await holding.value
        try await waiting.value
        #expect(await client.replies(4).compactMap(\.error) == [])
    }

    private func call<each Value: BusValue>(
        _ interface: String,
        _ member: String,
        _ arguments: repeat each Value
    ) -> Message {
        let message = Message.call(to: KeychainDaemon.busName, .service, interface, member)
        message.append(repeat each arguments)
        return message
    }
}

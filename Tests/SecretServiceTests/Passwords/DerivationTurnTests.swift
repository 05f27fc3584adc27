import KeychaindDBus
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Clients whose calls derive keys, beside a person who waits for one.
@Suite(.onLoop)
struct DerivationTurnTests {
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
            .toService(.service, SecretServiceProxy.Interface.service, "OpenSession", "plain", Variant.string(""))
        )
        let opening = try #require(await client.replies(1).first)
        let session = try opening.read(Variant.self, ObjectPath.self).1
        let (properties, password) = ([String: Variant](), WireSecret.password("new", session))
        for _ in 0..<4 {
            client.send(
                .toService(
                    .service,
                    SecretServiceProxy.masterPasswords,
                    "CreateWithMasterPassword",
                    properties,
                    password
                )
            )
        }
        // Its answer tells that the others were received.
        client.send(.toService(.service, "org.freedesktop.DBus.Peer", "Ping"))
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

    @Test("A long list in a context that derives keys lets another program's long list go first")
    @BusActor
    func context_derivesForALongList_holdsUpNoReply() async throws {
        let service = try await ProviderInProcess(limits: .patient)
        let login = try service.collection(.login)
        try await login.unlock(with: try ProviderInProcess.bytes(ProviderInProcess.password))
        let client = service.client
        let session = try await client.openPlainSession()
        let context = try await ContextClient(client)
        try await context.setCredential("own", session: session)
        let attributes = [Reserved.accessControl: "applicationPassword"]
        var properties = SecretServiceProxy.itemProperties(label: "Bank", attributes)
        properties["org.keychaind.Item1.Context"] = .objectPath(context.path)
        let secret = WireSecret(session: session, value: Array("secret".utf8))
        let sealed = try await client.createItem(in: .login, properties: properties, secret: secret).item
        let free = try await client.createItem(in: .login, "Free", ["n": "1"], session: session)
        let other = try SecretServiceProxy(on: service.bus)
        let otherSession = try await other.openPlainSession()
        let host = WaitingHost()
        let holding = add(host, to: login)
        _ = try await host.calls.first("the first derivation") { _ in true }
        let unlocking = Task.immediate { @BusActor in try await context.unlock([sealed, free]) }
        // Its answer tells that the other call was received.
        try await client.roundTrip()
        #expect(try await other.secrets(of: [sealed, free], session: otherSession).keys.map(\.self) == [free])
        host.open()
        let (unlocked, prompt) = try await unlocking.value
        #expect(unlocked == [sealed, free] && prompt == .root)
        try await holding.value
    }
}

import KeychaindDBus
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// How long an authentication serves in a context, by a clock that the test sets.
@Suite(.onLoop)
struct ProofTimeTests {
    private let time = TestClock()

    @Test("a list that takes longer to open than the dialog said opens nothing more")
    @BusActor
    func unlock_longerThanTheDialogSaid_opensNoMore() async throws {
        let service = try await ProviderInProcess(limits: .patient, clock: time.clock)
        let login = try service.collection(.login)
        try await login.unlock(with: try ProviderInProcess.bytes(ProviderInProcess.password))
        let client = service.client
        let session = try await client.openPlainSession()
        let bank = try await client.createItem(
            in: .login,
            "Bank",
            [Reserved.accessControl: "devicePasscode"],
            session: session
        )
        let context = try await ContextClient(client)
        try await context.setCredential("own", session: session)
        let slow = try await createItem(of: context, client, session)
        let prompter = try FakePrompter(on: service.bus, [.answer(ProviderInProcess.password)])
        try await context.set("ReuseDuration", to: .uint32(10_000))
        try await context.evaluate()
        let host = WaitingHost()
        let holding = Task.immediate { @BusActor in
            try await login.addHost(host, openedBy: try ProviderInProcess.bytes(ProviderInProcess.password))
        }
        _ = try await host.calls.first("the first derivation") { _ in true }
        let unlocking = Task.immediate { @BusActor in try await context.unlock([slow, bank]) }
        // Its answer tells that the other call was received.
        try await client.roundTrip()
        time.now += .seconds(11)
        host.open()
        #expect(try await unlocking.value.unlocked == [slow])
        #expect(try await client.isItemLocked(bank))
        try await holding.value
        prompter.crash()
    }

    @Test("an authentication serves in another context up to the age that this accepts, at most five minutes")
    @BusActor
    func acceptedAge_isReached_asks() async throws {
        let service = try await ProviderInProcess(limits: .patient, clock: time.clock)
        try await service.collection(.login).unlock(with: try ProviderInProcess.bytes(ProviderInProcess.password))
        let client = service.client
        let prompter = try FakePrompter(on: service.bus, [.answer(ProviderInProcess.password)])
        let (first, second) = (try await ContextClient(client), try await ContextClient(client))
        await #expect(throws: BusError.invalidArgs) { try await second.set("AcceptedAge", to: .uint32(300_001)) }
        try await first.set("ReuseDuration", to: .uint32(300_000))
        try await first.evaluate()
        let item = try await client.createProtectedItem(session: client.openPlainSession())
        #expect(try await second.unlock([item]).unlocked.isEmpty)
        time.now += .seconds(61)
        try await second.set("AcceptedAge", to: .uint32(60_000))
        #expect(try await second.unlock([item]).unlocked.isEmpty)
        try await second.set("AcceptedAge", to: .uint32(62_000))
        #expect(try await second.unlock([item]).unlocked == [item])
        prompter.crash()
    }

    /// Stores an item whose password the context has; to open it derives a key.
    @BusActor
    private func createItem(
        of context: ContextClient,
        _ client: SecretServiceProxy,
        _ session: ObjectPath
    ) async throws -> ObjectPath {
        let attributes = [Reserved.accessControl: "applicationPassword"]
        var properties = SecretServiceProxy.itemProperties(label: "Slow", attributes)
        properties["org.keychaind.Item1.Context"] = .objectPath(context.path)
        let secret = WireSecret(session: session, value: Array("secret".utf8))
        return try await client.createItem(in: .login, properties: properties, secret: secret).item
    }
}

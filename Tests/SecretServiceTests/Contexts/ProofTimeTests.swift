import KeychaindDBus
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// A call with items that take long to open, in a context whose authentication ends meanwhile.
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

import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Calls that only the owner of the keychains may make.
@Suite(.onLoop)
struct CallerUserTests {
    @Test("The bus is asked once who a caller is")
    @BusActor
    func user_isAskedForOnce() async throws {
        let service = try await ProviderInProcess()
        let client = service.client
        _ = try await client.rules()
        let monitor = try RawClient(service.bus.address)
        try await monitor.monitor()
        for _ in 0..<3 { _ = try await client.rules() }
        try await client.roundTrip()
        let messages = await monitor.messages { $0.member == "Ping" }
        #expect(messages.filter { $0.member == "List" }.count == 3)
        let name = client.connection.uniqueName
        let questions = messages.filter { message in
            message.member == "GetConnectionCredentials" && (try? message.read(String.self)) == name
        }
        #expect(questions.isEmpty)
    }
}

import KeychaindDBus
import KeychaindTestSupport
import Testing

/// The memory that clients can make the daemon use.
@Suite struct MemoryTests {
    @Test("large secrets requested at once are not all in memory")
    func largeSecrets_askedForAtOnce_areNotAllInMemory() async throws {
        let service = try await RunningService()
        let client = service.client
        let session = try await client.openPlainSession()
        let secret = WireSecret(session: session, value: [UInt8](repeating: 1, count: 16 << 20))
        let item = try await client.createItem(properties: [:], secret: secret).item
        // Asks for 384 MiB, which the bus holds: more than the daemon may use, less than a small machine has.
        let deaf = try await DeafClient(askingFor: item, times: 24, environment: service.daemon.environment)
        // Answered after all of those, in order.
        #expect(try await client.secrets(of: [item], session: session)[item]?.value.count == 16 << 20)
        let peak = try ProcessStatus(of: service.daemon.child.id).field("VmHWM")?.split(separator: " ").first
        #expect(try #require(peak.flatMap { Int($0) }) < 250 << 10)
        try await deaf.kill()
        try await service.daemon.stop()
    }
}

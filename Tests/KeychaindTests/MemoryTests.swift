import DBus
import TestSupport
import Testing

/// What clients can make the daemon hold in memory.
@Suite struct MemoryTests {
    @Test func largeSecrets_askedForAtOnce_areNotAllInMemory() async throws {
        let service = try await RunningService()
        let client = service.client
        let session = try await client.openPlainSession()
        let secret = WireSecret(session: session, value: [UInt8](repeating: 1, count: 16 << 20))
        let item = try await client.createItem(properties: [:], secret: secret).item
        // Asks for 384 MiB, which the bus keeps: more than the daemon may have, less than a small machine has.
        let deaf = try await DeafClient(askingFor: item, times: 24, environment: service.daemon.environment)
        // Answered after all of those, as it came after them.
        #expect(try await client.secrets(of: [item], session: session)[item]?.value.count == 16 << 20)
        let peak = try ProcessStatus(of: service.daemon.child.id).field("VmHWM")?.split(separator: " ").first
        #expect(try #require(peak.flatMap { Int($0) }) < 250 << 10)
        try await deaf.kill()
        try await service.daemon.stop()
    }
}

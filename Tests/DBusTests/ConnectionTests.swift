import DBus
import TestSupport
import Testing

struct ConnectionTests {
    @Test
    func connect_privateBus_givesUniqueName() async throws {
        let bus = try await PrivateBus()
        let name = try await Task { @BusActor in
            let connection = try bus.connect()
            defer { connection.close() }
            return connection.uniqueName
        }.value
        #expect(name.hasPrefix(":1."))
    }
}

import DBus
import TestSupport
import Testing

/// What overwrites libdbus's receive buffer; that nothing is left there is for `IdleMemoryTests`.
@Suite(.onLoop)
struct ReceiveBufferTests {
    @Test
    @BusActor
    func bytes_areFollowedByOneSignalOfZeros() async throws {
        let server = try await TestServer.start()
        let heard = Recorder<[UInt8]>()
        server.connection.subscribe(to: SignalMatch(interface: "org.keychaind.Memory")) { message in
            heard.record((try? message.read(ByteArray.self).bytes) ?? [])
        }
        server.connection.wipeReceiveBuffer()
        try await server.call("Record", "no bytes")
        for count in 1...2 {
            // Refused for its type; the bytes have arrived all the same.
            await #expect(throws: BusError.self) { try await server.call("Record", ByteArray([1, 2, 3])) }
            let zeros = try await heard.first("a signal", after: count - 1) { _ in true }
            #expect(zeros == [UInt8](repeating: 0, count: 8 << 10))
            #expect(heard.count == count)
        }
    }
}

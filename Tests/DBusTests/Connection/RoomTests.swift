import KeychaindDBus
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct RoomTests {
    @Test
    @BusActor
    func waitForRoom_queueThatOthersKeepFull_ends() async throws {
        let server = try await TestServer.start()
        let connection = server.connection
        server.bus.pause()
        defer { server.bus.resume() }
        fill(connection, to: 4 << 20)
        let waits = Recorder<String>()
        let waiting = Task.immediate { @BusActor in
            await connection.waitForRoom()
            waits.record("room")
        }
        #expect(waits.all.isEmpty)
        // What others queue later, which need not wait.
        fill(connection, to: 16 << 20)
        server.bus.resume()
        try await eventually("what was queued before is sent") { connection.bytesToSend < 12 << 20 }
        server.bus.pause()
        _ = try await waits.first("room for a large reply")
        await waiting.value
    }

    /// Queues messages of half a MiB.
    @BusActor
    private func fill(_ connection: Connection, to size: Int) {
        while connection.bytesToSend < size {
            connection.emit(.root, "org.example.Filling", "Signal") { writer in
                ByteArray([UInt8](repeating: 1, count: 512 << 10)).write(to: &writer)
            }
        }
    }
}

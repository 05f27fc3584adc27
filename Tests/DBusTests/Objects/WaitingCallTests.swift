import KeychaindDBus
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct WaitingCallTests {
    @Test
    @BusActor
    func waitingCall_otherCalls_areAnsweredMeanwhile() async throws {
        let server = try await TestServer.start()
        let held = Task { try await server.call("Hold", "slow").read(String.self) }
        _ = try await server.object.held.first("the slow call")
        try await server.call("Record", "quick")
        #expect(server.object.recorded.all == ["quick"])
        server.object.release()
        #expect(try await held.value == "slow")
    }

    @Test
    @BusActor
    func waitingCalls_overLimit_areRefused() async throws {
        let server = try await TestServer.start(limit: 3)
        let held = try await hold(3, server)
        await #expect(throws: BusError(.limitsExceeded, "")) { try await server.call("Hold", "one too many") }
        server.object.release()
        #expect(try await finish(held) == 3)
    }

    @Test
    @BusActor
    func waitingCalls_overLimit_doNotAffectOtherCallers() async throws {
        let server = try await TestServer.start(limit: 1)
        let held = try await hold(1, server)
        try await server.call("Record", "an immediate call")
        let other = try server.bus.connect()
        defer { other.close() }
        let message = server.message("Hold")
        message.append("other")
        let answer = Task { try await other.call(message) }
        _ = try await server.object.held.first("the other's call") { $0 == "other" }
        server.object.release()
        #expect(try await answer.value.read(String.self) == "other")
        #expect(try await finish(held) == 1)
    }

    @Test
    @BusActor
    func waitingCalls_overByteLimit_areRefusedUntilOthersEnd() async throws {
        let server = try await TestServer.start(byteLimit: 1000)
        let bytes = ByteArray([UInt8](repeating: 1, count: 600))
        for round in 0..<2 {
            let held = Task { try await server.call("HoldBytes", bytes) }
            _ = try await server.object.held.first("the call", after: round)
            await #expect(throws: BusError(.limitsExceeded, "")) { try await server.call("HoldBytes", bytes) }
            server.object.release()
            _ = try await held.value
        }
    }

    @Test
    @BusActor
    func peerTable_createsEachPeerOnce_andLetsItLeaveOnce() {
        let peers = PeerTable { TestPeer($0, WaitingCalls(limit: 1)) }
        let first = peers[":1.1"]
        #expect(peers[":1.1"] === first)
        #expect(peers[":1.2"] !== first)
        peers.remove(":1.1")
        peers.remove(":1.1")
        peers.remove(":1.3")
        #expect(first.leaves == 1)
        #expect(peers.all.map(\.name) == [":1.2"])
        #expect(peers[":1.1"] !== first)
    }

    @Test
    @BusActor
    func waitingCalls_ended_makeRoom() async throws {
        let server = try await TestServer.start(limit: 2)
        for _ in 0..<3 {
            let held = try await hold(2, server)
            server.object.release()
            #expect(try await finish(held) == 2)
        }
    }

    @Test
    @BusActor
    func waitingCall_callerVanishes_isIgnored() async throws {
        let server = try await TestServer.start(limit: 1)
        let other = try server.bus.connect()
        let message = server.message("HoldBytes")
        message.append(ByteArray([1, 2, 3]))
        let lost = Task { try await other.call(message) }
        _ = try await server.object.held.first("the call")
        other.close()
        await #expect(throws: BusError.self) { try await lost.value }
        server.object.release()
        try await server.call("Record", "still here")
    }

    @Test
    @BusActor
    func waitingCall_serverThatCloses_endsQuietly() async throws {
        let server = try await TestServer.start()
        let lost = Task { try await server.call("Hold", "lost") }
        _ = try await server.object.held.first("the call")
        server.connection.close()
        server.object.release()
        await #expect(throws: BusError(.noReply, "")) { try await lost.value }
    }

    /// Makes calls that wait; returns when all have started.
    @BusActor
    private func hold(_ count: Int, _ server: TestServer) async throws -> [Task<String, any Error>] {
        let mark = server.object.held.count
        let calls = (0..<count).map { number in
            Task { try await server.call("Hold", "\(number)").read(String.self) }
        }
        for number in 0..<count {
            _ = try await server.object.held.first("call \(number)", after: mark) { $0 == "\(number)" }
        }
        return calls
    }

    /// Counts the answered calls.
    @BusActor
    private func finish(_ calls: [Task<String, any Error>]) async throws -> Int {
        var names: Set<String> = []
        for call in calls {
            names.insert(try await call.value)
        }
        return names.count
    }
}

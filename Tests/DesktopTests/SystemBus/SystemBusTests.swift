import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Testing

/// The shared connection to the system bus, made at first use and again after a loss.
@Suite(.onLoop)
struct SystemBusTests {
    private static let long = Duration.seconds(300)

    @BusActor
    private func makeSystemBus(
        _ address: String,
        timeout: Duration = long,
        pause: Duration = .milliseconds(1)
    ) -> SystemBus {
        SystemBus(address: address, timeout: timeout, pause: pause, logger: .silent)
    }

    @Test @BusActor
    func connection_twice_isTheSame() async throws {
        let bus = try await PrivateBus()
        let system = makeSystemBus(bus.address)
        defer { system.close() }
        #expect(!system.isConnected)
        let first = try await system.connection()
        #expect(try await system.connection() === first)
        #expect(first.uniqueName.hasPrefix(":1."))
        #expect(system.isConnected)
    }

    @Test @BusActor
    func connection_askedForAtTheSameTime_isMadeOnce() async throws {
        let bus = try await PrivateBus()
        let system = makeSystemBus(bus.address)
        defer { system.close() }
        async let first = system.connection()
        async let second = system.connection()
        let (one, other) = try await (first, second)
        #expect(one === other)
    }

    @Test(arguments: [Duration.zero, long]) @BusActor
    func connection_noBus_fails(pause: Duration) async throws {
        let folder = try TemporaryFolder()
        let system = makeSystemBus("unix:path=\(folder.path("none"))", pause: pause)
        defer { system.close() }
        await #expect(throws: BusError.self) { _ = try await system.connection() }
        #expect(!system.isConnected)
    }

    @Test @BusActor
    func connection_addressIsGarbage_fails() async throws {
        _ = try await PrivateBus()
        for address in ["", "nonsense", "unix:path=", "unix:path=\u{1}"] {
            let system = makeSystemBus(address)
            await #expect(throws: BusError.self) { _ = try await system.connection() }
            system.close()
        }
    }

    @Test @BusActor
    func connection_busDoesNotAnswer_failsWithoutBlockingTheLoop() async throws {
        let bus = try await PrivateBus()
        bus.pause()
        defer { bus.resume() }
        let system = makeSystemBus(bus.address, timeout: .milliseconds(50), pause: SystemBusTests.long)
        defer { system.close() }
        await #expect(throws: BusError(.noReply, "")) { _ = try await system.connection() }
        // Fails at once, as the last try was just now; another try would take as long again.
        await #expect(throws: BusError(.noReply, "")) { _ = try await system.connection() }
    }

    @Test @BusActor
    func connection_afterTheBusWasLost_isMadeAgain() async throws {
        let folder = try TemporaryFolder()
        let first = try await PrivateBus(socket: folder.path("bus"))
        let system = makeSystemBus("unix:path=\(folder.path("bus"))")
        defer { system.close() }
        let before = try await system.connection()
        let losses = Recorder<Bool>()
        system.follow { losses.record($0 == nil) }
        try await first.kill()
        _ = try await losses.first("the loss") { $0 }
        let second = try await PrivateBus(socket: folder.path("bus"))
        let start = losses.count
        _ = try await losses.first("the new connection", after: min(start, 2)) { !$0 }
        let after = try await system.connection()
        #expect(after !== before)
        _ = second.address
    }

    @Test @BusActor
    func follow_connected_callsBackAtOnce() async throws {
        let bus = try await PrivateBus()
        let system = makeSystemBus(bus.address)
        defer { system.close() }
        let connection = try await system.connection()
        var told: [Connection?] = []
        system.follow { told.append($0) }
        #expect(told.count == 1)
        #expect(told.first.flatMap { $0 } === connection)
    }

    @Test @BusActor
    func follow_busComesLater_isTold() async throws {
        let folder = try TemporaryFolder()
        _ = try await PrivateBus()
        let system = makeSystemBus("unix:path=\(folder.path("bus"))")
        defer { system.close() }
        let connections = Recorder<Bool>()
        system.follow { connections.record($0 != nil) }
        let bus = try await PrivateBus(socket: folder.path("bus"))
        _ = try await connections.first("the bus") { $0 }
        #expect(system.isConnected)
        _ = bus.address
    }

    @Test @BusActor
    func follow_justAfterAFailure_isToldOfALaterBus() async throws {
        let folder = try TemporaryFolder()
        _ = try await PrivateBus()
        let system = makeSystemBus("unix:path=\(folder.path("bus"))", pause: .milliseconds(100))
        defer { system.close() }
        await #expect(throws: BusError.self) { _ = try await system.connection() }
        let connections = Recorder<Bool>()
        system.follow { connections.record($0 != nil) }
        let bus = try await PrivateBus(socket: folder.path("bus"))
        _ = try await connections.first("the bus") { $0 }
        _ = bus.address
    }

    @Test @BusActor
    func close_afterwards_thereIsNoConnection() async throws {
        let bus = try await PrivateBus()
        let system = makeSystemBus(bus.address)
        _ = try await system.connection()
        system.close()
        await #expect(throws: BusError(.disconnected, "")) { _ = try await system.connection() }
        #expect(!system.isConnected)
    }

    @Test @BusActor
    func close_whileConnecting_leavesNothingBehind() async throws {
        let bus = try await PrivateBus()
        let system = makeSystemBus(bus.address)
        let connecting = Task.immediate { @BusActor in try await system.connection() }
        system.close()
        await #expect(throws: BusError.self) { _ = try await connecting.value }
        #expect(!system.isConnected)
    }

    @Test @BusActor
    func close_whileTwoWaitForASilentBus_failsBoth() async throws {
        let bus = try await PrivateBus()
        bus.pause()
        defer { bus.resume() }
        let system = makeSystemBus(bus.address)
        let waiting = (0..<2).map { _ in Task.immediate { @BusActor in try await system.connection() } }
        system.close()
        for task in waiting {
            await #expect(throws: BusError(.disconnected, "")) { _ = try await task.value }
        }
    }
}

import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Logging
import Testing

/// A missing, silent or restarted logind, and impostors.
@Suite(.onLoop)
struct SessionFailureTests {
    @Test @BusActor
    func start_noSystemBus_isUnknownAndSaidOnce() async throws {
        let folder = try TemporaryFolder()
        let fixture = SessionFixture(address: "unix:path=\(folder.path("none"))")
        defer { fixture.end() }
        _ = try await fixture.lines.first("the warning") { $0.level == .notice }
        let bus = try await PrivateBus(socket: folder.path("none"))
        try await fixture.settle()
        #expect(fixture.monitor.state == .unknown)
        #expect(fixture.lines.all.count { $0.level == .notice } == 1)
        _ = bus.address
    }

    @Test @BusActor
    func start_noLogind_isUnknown() async throws {
        let bus = try await PrivateBus()
        let fixture = SessionFixture(address: bus.address)
        defer { fixture.end() }
        _ = try await fixture.lines.first("the warning") { $0.text.contains("logind is not running") }
        #expect(fixture.monitor.state == .unknown)
    }

    @Test @BusActor
    func start_logindComesLater_isFound() async throws {
        let bus = try await PrivateBus()
        let fixture = SessionFixture(address: bus.address, sessionID: "c1")
        defer { fixture.end() }
        _ = try await fixture.lines.first("the warning") { $0.text.contains("logind is not running") }
        let logind = try await FakeLogind(on: bus)
        try await logind.emitSession("SessionNew", "c1")
        try await fixture.waitUntilKnown()
        #expect(fixture.monitor.state == .unlocked)
    }

    @Test @BusActor
    func start_logindNeverAnswers_isUnknown() async throws {
        let logind = try await FakeLogind()
        logind.pause()
        let fixture = SessionFixture(
            address: logind.bus.address,
            sessionID: "c1",
            delaysSleep: true,
            callTimeout: .milliseconds(20)
        )
        defer { fixture.end() }
        _ = try await fixture.lines.first("the warning") { $0.text.contains("logind does not answer") }
        #expect(fixture.monitor.state == .unknown)
        #expect(fixture.events.all == [])
    }

    @Test @BusActor
    func logindThatDidNotAnswer_isAskedAgain() async throws {
        let logind = try await FakeLogind()
        try await logind.setLockedHint(true)
        logind.pause()
        let fixture = SessionFixture(
            address: logind.bus.address,
            sessionID: "c1",
            callTimeout: .milliseconds(100)
        )
        defer { fixture.end() }
        _ = try await fixture.lines.first("the warning") { $0.text.contains("logind does not answer") }
        logind.resume()
        try await fixture.expect(.locked)
    }

    @Test @BusActor
    func end_beforeLogindAnswers_isNoFailure() async throws {
        let logind = try await FakeLogind()
        logind.pause()
        for isConnected in [false, true] {
            let fixture = SessionFixture(address: logind.bus.address, sessionID: "c1")
            if isConnected { try await fixture.settle() }
            fixture.end()
            for _ in 0..<4 { await BusActor.loop.wait(for: .zero) }
            #expect(fixture.lines.all.isEmpty)
        }
    }

    @Test @BusActor
    func logindRestarts_whatWasKnownHoldsUntilItAnswers() async throws {
        let bus = try await PrivateBus()
        let first = try await FakeLogind(on: bus)
        let fixture = SessionFixture(address: bus.address, sessionID: "c1", delaysSleep: true)
        defer { fixture.end() }
        try await fixture.waitUntilKnown()
        try await first.setLockedHint(true)
        try await fixture.expect(.locked)
        try await first.kill()
        try await fixture.settle()
        #expect(fixture.monitor.state == .locked)
        let start = fixture.lines.count
        let second = try await FakeLogind(on: bus)
        try await second.emitSession("SessionNew", "c1")
        try await fixture.waitUntilKnown(after: start)
        #expect(fixture.monitor.state == .unlocked)
        try await second.send("Lock")
        try await fixture.expect(.locked, after: 2)
        try await eventually("the delay of sleep") { try await !second.inhibitors().isEmpty }
    }

    @Test @BusActor
    func logindGoesBeforeTheMachineSleeps_theNextSleepIsDelayed() async throws {
        let bus = try await PrivateBus()
        let first = try await FakeLogind(on: bus)
        let fixture = SessionFixture(address: bus.address, sessionID: "c1", delaysSleep: true)
        defer { fixture.end() }
        try await fixture.waitUntilKnown()
        try await first.prepareForSleep(true)
        try await fixture.expect(.aboutToSleep)
        try await first.kill()
        let second = try await FakeLogind(on: bus)
        try await eventually("the delay of sleep") { try await !second.inhibitors().isEmpty }
    }

    @Test @BusActor
    func busGoes_isSaid() async throws {
        let bus = try await PrivateBus()
        let logind = try await FakeLogind(on: bus)
        let fixture = SessionFixture(address: bus.address, sessionID: logind.session)
        defer { fixture.end() }
        try await fixture.waitUntilKnown()
        try await bus.kill()
        _ = try await fixture.lines.first("the warning") {
            $0.text.contains("the connection to the system bus was lost")
        }
        #expect(fixture.monitor.state == .unlocked)
    }

    @Test @BusActor
    func strangers_signals_changeNothing() async throws {
        let logind = try await FakeLogind()
        let fixture = SessionFixture(address: logind.bus.address, sessionID: "c1", delaysSleep: true)
        defer { fixture.end() }
        try await fixture.waitUntilKnown()
        let stranger = try logind.bus.connect()
        defer { stranger.close() }
        let session = ObjectPath(unchecked: logind.path("c1"))
        let manager = ObjectPath(unchecked: FakeLogind.manager)
        let interface = "org.freedesktop.login1"
        let watcher = try await fixture.connectionName()
        for destination in [nil, watcher] {
            stranger.send(.signal(session, "\(interface).Session", "Lock", to: destination))
            let sleep = Message.signal(manager, "\(interface).Manager", "PrepareForSleep", to: destination)
            sleep.append(true)
            stranger.send(sleep)
            let removed = Message.signal(manager, "\(interface).Manager", "SessionRemoved", to: destination)
            removed.append("c1", session)
            stranger.send(removed)
            stranger.emitPropertiesChanged(session, "\(interface).Session", to: destination) {
                $0.writeProperty("LockedHint", true)
            }
        }
        _ = try await stranger.owner(of: stranger.uniqueName)
        try await fixture.settle()
        #expect(fixture.events.all == [])
        #expect(fixture.monitor.state == .unlocked)
    }

    @Test @BusActor
    func logind_speaksNonsense_changesNothing() async throws {
        let bus = try await PrivateBus()
        let fake = try bus.connect()
        defer { fake.close() }
        // Answers every call with an error, as libdbus does for a connection without objects.
        _ = try fake.requestName(FakeLogind.busName)
        let fixture = SessionFixture(address: bus.address, sessionID: "../..")
        defer { fixture.end() }
        _ = try await fixture.lines.first("the warning") { $0.text.contains("no session") }
        let manager = ObjectPath(unchecked: FakeLogind.manager)
        for member in ["PrepareForSleep", "SessionRemoved", "SessionNew"] {
            let signal = Message.signal(manager, "org.freedesktop.login1.Manager", member)
            signal.append("nonsense")
            fake.send(signal)
        }
        _ = try await fake.owner(of: fake.uniqueName)
        try await fixture.settle()
        #expect(fixture.monitor.state == .unknown)
        #expect(fixture.events.all == [])
    }
}

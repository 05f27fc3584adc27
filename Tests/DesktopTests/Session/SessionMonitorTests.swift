import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Testing

/// Locking, unlocking and sleep, as logind reports them.
@Suite(.onLoop)
struct SessionMonitorTests {
    @BusActor
    private func run(
        sessionID: String? = "c1",
        delaysSleep: Bool = false,
        confirmationTime: Duration = .seconds(300),
        prepare: (FakeLogind) async throws -> Void = { _ in },
        _ body: @BusActor (FakeLogind, SessionFixture) async throws -> Void
    ) async throws {
        let logind = try await FakeLogind()
        try await prepare(logind)
        let fixture = SessionFixture(
            address: logind.bus.address,
            sessionID: sessionID,
            delaysSleep: delaysSleep,
            confirmationTime: confirmationTime
        )
        defer { fixture.end() }
        try await fixture.waitUntilKnown()
        try await body(logind, fixture)
    }

    // MARK: Locking

    @Test @BusActor
    func hint_changes_areTold() async throws {
        try await run { logind, fixture in
            #expect(fixture.monitor.state == .unlocked)
            try await logind.setLockedHint(true)
            try await fixture.expect(.locked)
            #expect(fixture.monitor.state == .locked)
            #expect(fixture.monitor.state.isLocked)
            try await logind.setLockedHint(false)
            try await fixture.expect(.unlocked)
            #expect(fixture.monitor.state == .unlocked)
            #expect(fixture.events.all == [.locked, .unlocked])
        }
    }

    @Test @BusActor
    func hint_setBeforeTheStart_isKnown() async throws {
        let prepare: (FakeLogind) async throws -> Void = { try await $0.setLockedHint(true) }
        try await run(prepare: prepare) { _, fixture in
            #expect(fixture.monitor.state == .locked)
            #expect(fixture.events.all == [.locked])
        }
    }

    @Test @BusActor
    func lock_asked_isLockedAtOnceAndToldOnce() async throws {
        try await run { logind, fixture in
            try await logind.send("Lock")
            try await fixture.expect(.locked)
            #expect(fixture.monitor.state == .locking)
            try await logind.setLockedHint(true)
            try await logind.send("Lock")
            try await fixture.settle()
            #expect(fixture.monitor.state == .locked)
            #expect(fixture.events.all == [.locked])
        }
    }

    @Test @BusActor
    func unlock_askedWhileLocked_waitsForTheLocker() async throws {
        try await run { logind, fixture in
            try await logind.setLockedHint(true)
            try await logind.send("Unlock")
            try await fixture.settle()
            #expect(fixture.monitor.state == .locked)
        }
    }

    @Test @BusActor
    func unlock_askedWhileLocking_unlocks() async throws {
        try await run { logind, fixture in
            try await logind.send("Lock")
            try await logind.send("Unlock")
            try await fixture.expect(.unlocked)
            #expect(fixture.monitor.state == .unlocked)
        }
    }

    @Test(arguments: ["Lock", "Unlock"]) @BusActor
    func lockedScreen_requestComesBeforeTheHint_staysLocked(request: String) async throws {
        let bus = try await PrivateBus()
        let logind = try RequestingLogind(on: bus, request)
        defer { logind.end() }
        let fixture = SessionFixture(address: bus.address, sessionID: "c1")
        defer { fixture.end() }
        try await fixture.waitUntilKnown()
        #expect(fixture.monitor.state == .locked)
    }

    @Test @BusActor
    func lock_lockerSaysNothing_isUnlockedAfterAWhile() async throws {
        try await run(confirmationTime: .milliseconds(10)) { logind, fixture in
            try await logind.send("Lock")
            try await fixture.expect(.unlocked)
            #expect(fixture.monitor.state == .unlocked)
            #expect(fixture.lines.all.contains { $0.text.contains("has not confirmed the lock") })
        }
    }

    // MARK: Sleep

    @Test @BusActor
    func sleep_isToldAndNotDelayed() async throws {
        try await run { logind, fixture in
            try await logind.prepareForSleep(true)
            try await logind.prepareForSleep(false)
            try await fixture.expect(.wokeUp)
            #expect(fixture.events.all == [.aboutToSleep, .wokeUp])
            #expect(try await logind.inhibitors() == [])
        }
    }

    @Test @BusActor
    func sleep_delayed_waitsUntilAllHaveBeenTold() async throws {
        try await run(delaysSleep: true) { logind, fixture in
            let held = [["sleep", "keychaind", "delay"]]
            #expect(try await logind.inhibitors() == held)
            try await logind.prepareForSleep(true)
            try await fixture.expect(.aboutToSleep)
            try await eventually("the end of the delay") { try await logind.inhibitors() != held }
            try await logind.prepareForSleep(false)
            try await fixture.expect(.wokeUp)
            try await eventually("the next delay") { try await logind.inhibitors() == held }
        }
    }

    // MARK: Idleness

    @Test @BusActor
    func idleHint_changes_areTold() async throws {
        try await run { logind, fixture in
            try await logind.setIdleHint(true)
            try await fixture.expect(.idle)
            try await logind.setIdleHint(false)
            try await fixture.expect(.active)
            #expect(fixture.monitor.state == .unlocked)
        }
    }

    @Test @BusActor
    func idleHint_setBeforeTheStart_isTold() async throws {
        try await run(prepare: { try await $0.setIdleHint(true) }) { logind, fixture in
            #expect(fixture.events.all == [.idle])
            try await logind.setIdleHint(false)
            try await fixture.expect(.active)
            #expect(fixture.events.all == [.idle, .active])
        }
    }

    // MARK: Which session

    @Test @BusActor
    func session_withoutID_isThatOfTheProcess() async throws {
        let prepare: (FakeLogind) async throws -> Void = {
            try await $0.addSession("c2")
            try await $0.setSessionOfProcesses("c2")
        }
        try await run(sessionID: nil, prepare: prepare) { logind, fixture in
            try await logind.setLockedHint(true, of: "c1")
            try await fixture.settle()
            #expect(fixture.monitor.state == .unlocked)
            try await logind.setLockedHint(true, of: "c2")
            try await fixture.expect(.locked)
        }
    }

    @Test @BusActor
    func session_processHasNone_isTheDisplays() async throws {
        let prepare: (FakeLogind) async throws -> Void = {
            try await $0.addSession("c2")
            try await $0.setDisplay("c2")
        }
        try await run(sessionID: nil, prepare: prepare) { logind, fixture in
            try await logind.setLockedHint(true, of: "c2")
            try await fixture.expect(.locked)
        }
    }

    @Test(arguments: ["manager", "background", "greeter", "lock-screen", ""]) @BusActor
    func session_nobodySitsThere_isNotTaken(kind: String) async throws {
        let prepare: (FakeLogind) async throws -> Void = {
            try await $0.addSession("c2")
            try await $0.setClass(kind, of: "c2")
            try await $0.setSessionOfProcesses("c2")
            try await $0.setDisplay("c1")
        }
        try await run(sessionID: "c2", prepare: prepare) { logind, fixture in
            try await logind.setLockedHint(true, of: "c1")
            try await fixture.expect(.locked)
        }
    }

    @Test @BusActor
    func session_ofAnotherUser_isNotTaken() async throws {
        let prepare: (FakeLogind) async throws -> Void = {
            try await $0.addSession("c2", user: 4711)
            try await $0.setDisplay("c1")
        }
        try await run(sessionID: "c2", prepare: prepare) { logind, fixture in
            try await logind.setLockedHint(true, of: "c2")
            try await fixture.settle()
            #expect(fixture.monitor.state == .unlocked)
            try await logind.setLockedHint(true, of: "c1")
            try await fixture.expect(.locked)
        }
    }

    @Test @BusActor
    func display_changes_isFollowed() async throws {
        try await run(sessionID: nil, prepare: { try await $0.setDisplay("c1") }) { logind, fixture in
            try await logind.setIdleHint(true, of: "c1")
            try await fixture.expect(.idle)
            try await logind.addSession("c2")
            try await logind.setDisplay("c2")
            try await fixture.waitUntilWatching("c2")
            #expect(fixture.events.all == [.idle, .active])
            try await logind.setLockedHint(true, of: "c1")
            try await fixture.settle()
            #expect(fixture.monitor.state == .unlocked)
            try await logind.setLockedHint(true, of: "c2")
            try await fixture.expect(.locked)
        }
    }

    @Test @BusActor
    func session_endsBesideAnother_isNotTheEnd() async throws {
        try await run(sessionID: nil, prepare: { try await $0.setDisplay("c1") }) { logind, fixture in
            try await logind.addSession("c2")
            try await logind.setDisplay("c2")
            try await fixture.waitUntilWatching("c2")
            try await logind.removeSession("c1", display: "c2")
            try await logind.send("Lock", to: "c2")
            try await fixture.expect(.locked)
            #expect(fixture.events.all == [.locked])
        }
    }

    @Test @BusActor
    func session_ofTheProcessEndsBesideAnother_thatIsWatched() async throws {
        try await run { logind, fixture in
            try await logind.addSession("c2")
            try await logind.removeSession("c1", display: "c2")
            try await fixture.waitUntilWatching("c2")
            #expect(fixture.events.all == [])
            try await logind.removeSession("c2")
            try await fixture.expect(.ended)
            #expect(fixture.monitor.state == .unknown)
        }
    }

    @Test @BusActor
    func session_lastEndsLocked_isToldOnce() async throws {
        try await run(sessionID: nil, prepare: { try await $0.setDisplay("c1") }) { logind, fixture in
            try await logind.setLockedHint(true)
            try await logind.removeSession("c1")
            try await fixture.expect(.ended)
            try await fixture.expect(.unlocked)
            try await logind.emitSession("SessionRemoved", "c7")
            try await logind.addSession("c2")
            try await logind.setDisplay("c2")
            try await fixture.waitUntilWatching("c2")
            #expect(fixture.events.all == [.locked, .ended, .unlocked])
        }
    }

    @Test("a session whose processes outlive its login is the display session as long as they do, and closing")
    @BusActor
    func display_closing_isNotTaken() async throws {
        try await run(sessionID: nil, prepare: { try await $0.setDisplay("c1") }) { logind, fixture in
            try await logind.setState("closing", of: "c1")
            try await logind.emitSession("SessionNew", "c2")
            try await fixture.expect(.ended)
        }
    }

    @Test("logind tells nobody that a session is closing: it does so when its leader ends") @BusActor
    func session_leaderEndsBeforeOthers_isTheEnd() async throws {
        let leader = try ChildProcess("/usr/bin/sleep", ["infinity"])
        try await run(prepare: { try await $0.setLeader(leader.id) }) { logind, fixture in
            try await logind.setState("closing", of: "c1")
            try await fixture.settle()
            #expect(fixture.events.all == [])
            try await leader.terminate()
            try await fixture.expect(.ended)
        }
    }

    @Test @BusActor
    func session_leaderHasEnded_isWatched() async throws {
        let leader = try ChildProcess("/usr/bin/true")
        try await leader.waitForExit()
        try await run(prepare: { try await $0.setLeader(leader.id) }) { logind, fixture in
            try await logind.setLockedHint(true)
            try await fixture.expect(.locked)
            #expect(fixture.events.all == [.locked])
        }
    }

    @Test("the session of the process before has ended when there is none, however early logind says so")
    @BusActor
    func takeOver_sessionEndedMeanwhile_isTheEnd() async throws {
        let logind = try await FakeLogind(hasSession: false)
        for isEarly in [true, false] {
            let fixture = SessionFixture(address: logind.bus.address)
            defer { fixture.end() }
            if isEarly { fixture.monitor.takeOver() }
            await fixture.monitor.waitForAnswer(within: Patience.limit)
            if !isEarly { fixture.monitor.takeOver() }
            #expect(fixture.events.all == [.ended])
        }
    }

    @Test @BusActor
    func takeOver_sessionIsThere_isNotTold() async throws {
        try await run { logind, fixture in
            fixture.monitor.takeOver()
            #expect(fixture.monitor.hasSession)
            #expect(fixture.events.all == [])
            try await logind.removeSession("c1")
            try await fixture.expect(.ended)
            #expect(!fixture.monitor.hasSession)
        }
    }

    @Test @BusActor
    func screen_lockedAndUnlockedAtOnce_isTold() async throws {
        try await run { logind, fixture in
            try await logind.atOnce {
                try await logind.setLockedHint(true)
                try await logind.setLockedHint(false)
            }
            try await fixture.expect(.unlocked)
            #expect(fixture.events.all == [.locked, .unlocked])
        }
    }

    @Test @BusActor
    func session_closing_isNotTaken() async throws {
        let prepare: (FakeLogind) async throws -> Void = {
            try await $0.addSession("c2")
            try await $0.setState("closing", of: "c1")
            try await $0.setDisplay("c2")
        }
        try await run(sessionID: "c1", prepare: prepare) { logind, fixture in
            try await logind.setLockedHint(true, of: "c2")
            try await fixture.expect(.locked)
        }
    }

    @Test @BusActor
    func session_comesLater_isFound() async throws {
        let logind = try await FakeLogind(hasSession: false)
        let fixture = SessionFixture(address: logind.bus.address)
        defer { fixture.end() }
        _ = try await fixture.lines.first("the warning") { $0.text.contains("no session") }
        #expect(fixture.monitor.state == .unknown)
        #expect(!fixture.monitor.state.isLocked)
        try await logind.addSession("c1")
        try await logind.setDisplay("c1")
        try await logind.emitSession("SessionNew", "c1")
        try await fixture.waitUntilKnown()
        #expect(fixture.monitor.state == .unlocked)
    }
}

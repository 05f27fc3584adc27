import DBus
import TestSupport
import Testing

@Suite(.onLoop)
struct TimerTests {
    @Test
    @BusActor
    func schedule_severalTimers_runInTheOrderOfTheirTimes() async throws {
        let ran = Recorder<Int>()
        // Each is counted from its own moment: so far apart that a pause between two of those does not change the order.
        for number in [3, 1, 2, 0] {
            BusActor.loop.schedule(after: .milliseconds(number * 500)) { ran.record(number) }
        }
        _ = try await ran.first("the last timer") { $0 == 3 }
        #expect(ran.all == [0, 1, 2, 3])
    }

    @Test
    @BusActor
    func schedule_inATimer_runs() async throws {
        let ran = Recorder<Int>()
        BusActor.loop.schedule(after: .zero) {
            ran.record(1)
            BusActor.loop.schedule(after: .zero) { ran.record(2) }
        }
        _ = try await ran.first("the inner timer") { $0 == 2 }
        #expect(ran.all == [1, 2])
    }

    @Test
    @BusActor
    func cancel_beforeItsTime_doesNotRun() async throws {
        let ran = Recorder<String>()
        let timer = BusActor.loop.schedule(after: .milliseconds(1)) { ran.record("cancelled") }
        BusActor.loop.schedule(after: .milliseconds(2)) { ran.record("other") }
        BusActor.loop.cancel(timer)
        BusActor.loop.cancel(timer)
        _ = try await ran.first("the other timer") { $0 == "other" }
        #expect(ran.all == ["other"])
    }

    @Test
    @BusActor
    func cancel_byATimerOfTheSameTurn_doesNotRun() async throws {
        let ran = Recorder<String>()
        let second = Recorder<Timer>()
        BusActor.loop.schedule(after: .zero) { second.all.forEach(BusActor.loop.cancel) }
        second.record(BusActor.loop.schedule(after: .zero) { ran.record("cancelled") })
        BusActor.loop.schedule(after: .milliseconds(1)) { ran.record("other") }
        _ = try await ran.first("the other timer") { $0 == "other" }
        #expect(ran.all == ["other"])
    }

    @Test
    @BusActor
    func schedule_negativeTime_runsAtOnce() async throws {
        let ran = Recorder<Int>()
        BusActor.loop.schedule(after: .seconds(-1)) { ran.record(1) }
        _ = try await ran.first("the timer")
    }

    @Test
    @BusActor
    func schedule_farAway_holdsNothingUp() async throws {
        let timer = BusActor.loop.schedule(after: .seconds(Int64.max / 4)) {}
        let ran = Recorder<Int>()
        BusActor.loop.schedule(after: .milliseconds(1)) { ran.record(1) }
        _ = try await ran.first("the near timer")
        BusActor.loop.cancel(timer)
    }
}

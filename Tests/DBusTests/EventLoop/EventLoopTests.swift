import KeychaindDBus
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct JobTests {
    @BusActor
    private final class Counter {
        var value = 0

        nonisolated init() {}
    }

    @Test
    func jobs_ofManyTasks_runExclusively() async {
        let counter = Counter()
        await withTaskGroup { group in
            for _ in 0..<2000 {
                group.addTask { @BusActor in
                    let value = counter.value
                    counter.value = value + 1
                }
            }
        }
        #expect(await counter.value == 2000)
    }

    @Test
    func jobs_fromOtherThreads_wakeLoop() async throws {
        let done = Recorder<Int>()
        for number in 0..<50 {
            #expect(BlockingThread.start { Task { @BusActor in done.record(number) } })
        }
        for number in 0..<50 {
            _ = try await done.first("job \(number)") { $0 == number }
        }
        #expect(done.count == 50)
    }

    @Test
    @BusActor
    func jobs_afterYield_stayOnLoop() async {
        for _ in 0..<100 {
            await Task.yield()
            BusActor.shared.assertIsolated()
        }
        BusActor.assumeIsolated {}
    }

    @Test
    func jobs_afterAwaitingElsewhere_returnToLoop() async {
        await { @BusActor in
            await Task.detached {}.value
            BusActor.shared.assertIsolated()
        }()
    }
}

@Suite(.onLoop)
struct TimerTests {
    @Test
    @BusActor
    func schedule_severalTimers_runInOrder() async throws {
        // Each delay starts at its own instant. A pause between two of them can change their order: then once more.
        for gap in Patience.growing {
            let ran = Recorder<Int>()
            let begin = ContinuousClock.now
            for number in [3, 1, 2, 0] {
                BusActor.loop.schedule(after: gap * number) { ran.record(number) }
            }
            let isInTime = ContinuousClock.now - begin < gap
            for number in 0...3 {
                _ = try await ran.first("timer \(number)") { $0 == number }
            }
            guard isInTime else { continue }
            #expect(ran.all == [0, 1, 2, 3])
            return
        }
        Issue.record("this machine is too busy to schedule timers in time")
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
    func cancel_beforeDeadline_doesNotRun() async throws {
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
    func cancel_byTimerOfSameTurn_doesNotRun() async throws {
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
    func schedule_negativeDelay_runsAtOnce() async throws {
        let ran = Recorder<Int>()
        BusActor.loop.schedule(after: .seconds(-1)) { ran.record(1) }
        _ = try await ran.first("the timer")
    }

    @Test
    @BusActor
    func schedule_distantDeadline_isAccepted() async throws {
        let timer = BusActor.loop.schedule(after: .seconds(Int64.max / 4)) {}
        let ran = Recorder<Int>()
        BusActor.loop.schedule(after: .milliseconds(1)) { ran.record(1) }
        _ = try await ran.first("the near timer")
        BusActor.loop.cancel(timer)
    }
}

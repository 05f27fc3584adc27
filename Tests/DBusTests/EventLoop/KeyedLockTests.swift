import KeychaindDBus
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct KeyedLockTests {
    @Test("tasks with one key run one after the other, those of other keys do not wait")
    @BusActor
    func lock_sameKey_runsOneAtATime() async {
        let lock = KeyedLock<String>()
        var events: [String] = []
        await lock.lock("a")
        let waiting = (1...2).map { number in
            Task.immediate(executorPreference: BusActor.loop) { @BusActor in
                await lock.lock("a")
                events.append("in \(number)")
                await Task.yield()
                events.append("out \(number)")
                lock.unlock("a")
            }
        }
        await lock.lock("b")
        lock.unlock("b")
        #expect(events == [])
        lock.unlock("a")
        for task in waiting { await task.value }
        #expect(events == ["in 1", "out 1", "in 2", "out 2"])
        // Free again.
        await lock.lock("a")
    }

    @Test("a task that comes when the lock is given up does not overtake one that waits")
    @BusActor
    func lock_givenUp_isOfTheFirstThatWaits() async {
        let lock = KeyedLock<String>()
        let events = Recorder<String>()
        await lock.lock("a")
        let waiting = Task.immediate(executorPreference: BusActor.loop) { @BusActor in
            await lock.lock("a")
            events.record("waited")
            lock.unlock("a")
        }
        lock.unlock("a")
        await lock.lock("a")
        events.record("came later")
        lock.unlock("a")
        await waiting.value
        #expect(events.all == ["waited", "came later"])
    }
}

import DBus
import Foundation
import TestSupport
import Testing

@Suite(.onLoop)
struct JobTests {
    @BusActor
    private final class Counter {
        var value = 0

        nonisolated init() {}
    }

    @Test
    func jobs_fromManyTasks_allRunAlone() async {
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
    func jobs_fromOtherThreads_wakeTheLoop() async throws {
        let done = Recorder<Int>()
        for number in 0..<50 {
            Thread.detachNewThread {
                Task { @BusActor in done.record(number) }
            }
        }
        for number in 0..<50 {
            _ = try await done.first("job \(number)") { $0 == number }
        }
        #expect(done.count == 50)
    }

    @Test
    @BusActor
    func jobs_ofTheLoop_goOnWhereTheyWere() async {
        for _ in 0..<100 {
            await Task.yield()
            BusActor.shared.assertIsolated()
        }
        BusActor.assumeIsolated {}
    }

    @Test
    func jobs_afterAwaitingElsewhere_areBackOnTheLoop() async {
        await { @BusActor in
            await Task.detached {}.value
            BusActor.shared.assertIsolated()
        }()
    }
}

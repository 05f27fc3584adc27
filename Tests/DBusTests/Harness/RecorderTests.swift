import TestSupport
import Testing

struct RecorderTests {
    @Test
    func first_recordedBefore_isGivenAtOnce() async throws {
        let recorder = Recorder<Int>()
        recorder.record(1)
        recorder.record(2)
        #expect(try await recorder.first("a number") == 1)
        #expect(try await recorder.first("a number", after: 1) == 2)
        #expect(try await recorder.first("two") { $0 == 2 } == 2)
    }

    @Test
    func first_recordedLater_isWaitedFor() async throws {
        let recorder = Recorder<Int>()
        async let three = recorder.first("three") { $0 == 3 }
        async let any = recorder.first("any")
        for number in 0..<5 {
            recorder.record(number)
        }
        #expect(try await three == 3)
        _ = try await any
        #expect(recorder.all == [0, 1, 2, 3, 4])
    }

    @Test
    func first_neverRecorded_timesOut() async {
        let recorder = Recorder<Int>()
        await #expect(throws: WaitError.self) {
            try await recorder.first("nothing", within: .milliseconds(1))
        }
    }

    @Test
    func first_finished_ends() async {
        let recorder = Recorder<Int>()
        recorder.finish()
        await #expect(throws: WaitError.self) { try await recorder.first("nothing") }
    }

    @Test
    func first_cancelled_ends() async {
        let recorder = Recorder<Int>()
        let task = Task { try await recorder.first("nothing") }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test
    func turnstile_letsOnlySoManyIn() async {
        let turnstile = Turnstile(places: 2)
        let inside = Recorder<Int>()
        await withTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    await turnstile.enter()
                    inside.record(1)
                    await Task.yield()
                    inside.record(-1)
                    turnstile.leave()
                }
            }
        }
        var count = 0
        for change in inside.all {
            count += change
            #expect((0...2).contains(count))
        }
        #expect(inside.count == 40)
    }
}

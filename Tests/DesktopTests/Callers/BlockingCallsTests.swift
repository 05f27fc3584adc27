import Dispatch
import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Synchronization
import Testing

/// Calls on threads of their own, where threads are short.
@Suite(.onLoop)
struct BlockingCallsTests {
    @Test("A call that must be made waits for a thread")
    @BusActor
    func runEventually_noThread_waits() async {
        let calls = callsWithoutThreads(failing: 3)
        #expect(await calls.run { "at once" } == nil)
        #expect(await calls.runEventually(while: { true }, { "later" }) == "later")
    }

    @Test("A call that waits for a thread ends when it is no longer wanted")
    @BusActor
    func runEventually_notWantedAnyMore_ends() async {
        let calls = callsWithoutThreads(failing: .max)
        var tries = 0
        let result = await calls.runEventually(
            while: {
                tries += 1
                return tries < 3
            },
            { "never" }
        )
        #expect(result == nil)
    }

    @Test("A call that must be made waits for a place")
    @BusActor
    func runEventually_tooManyRun_waits() async {
        let calls = BlockingCalls(limit: 1, patience: Patience.limit)
        let gate = DispatchSemaphore(value: 0)
        let first = Task.immediate { @BusActor in
            await calls.run {
                gate.wait()
                return "first"
            }
        }
        var tries = 0
        let second = await calls.runEventually(
            while: {
                tries += 1
                if tries == 2 { gate.signal() }
                return true
            },
            { "second" }
        )
        #expect(second == "second")
        #expect(await first.value == "first")
    }

    @Test("Calls that never end take some places for what makes them block, and leave the others")
    @BusActor
    func run_culpritIsOverdue_isNotTried() async throws {
        let calls = BlockingCalls(limit: 8, patience: .milliseconds(20))
        let gate = DispatchSemaphore(value: 0)
        let tries = Recorder<Void>()
        for _ in 0..<20 {
            let result = await calls.runEventually(for: "a dead disk", while: { true }) {
                tries.record(())
                gate.wait()
                return "answer"
            }
            #expect(result == nil)
        }
        _ = try await tries.first("the last try", after: 3)
        #expect(tries.count == 4)
        try await eventually("a call for another disk") {
            await calls.run(for: "another disk") { "answer" } == "answer"
        }
        for _ in 0..<4 { gate.signal() }
        try await eventually("the disk answers again") {
            await calls.run(for: "a dead disk") { "answer" } == "answer"
        }
    }

    @Test("Calls for what makes them block leave places also if they begin together")
    @BusActor
    func run_manyBeginTogether_leavePlaces() async throws {
        let calls = BlockingCalls(limit: 8, patience: .milliseconds(20))
        let gate = DispatchSemaphore(value: 0)
        let tries = Recorder<Void>()
        let stuck = (0..<8).map { _ in
            Task.immediate { @BusActor in
                await calls.run(for: "a dead disk") {
                    tries.record(())
                    gate.wait()
                    return "answer"
                }
            }
        }
        try await eventually("a call for another disk") {
            await calls.run(for: "another disk") { "answer" } == "answer"
        }
        for call in stuck { #expect(await call.value == nil) }
        _ = try await tries.first("the last try", after: 3)
        #expect(tries.count == 4)
        for _ in 0..<4 { gate.signal() }
    }

    @Test("A call waits while others for the same thing are in time")
    @BusActor
    func run_othersAreInTime_waits() async {
        let calls = BlockingCalls(limit: 8, patience: Patience.limit, mostForOne: 1)
        let gate = DispatchSemaphore(value: 0)
        let first = Task.immediate { @BusActor in
            await calls.run(for: "a slow disk") {
                gate.wait()
                return "first"
            }
        }
        let second = Task.immediate { @BusActor in await calls.run(for: "a slow disk") { "second" } }
        #expect(await calls.run(for: "another disk") { "answer" } == "answer")
        gate.signal()
        #expect(await first.value == "first")
        #expect(await second.value == "second")
    }

    /// Calls for which no thread can be started the first times.
    @BusActor
    private func callsWithoutThreads(failing count: Int) -> BlockingCalls {
        let tries = FailingTries(count)
        return BlockingCalls(limit: 1, patience: Patience.limit) { body in
            tries.succeedsNow() && BlockingThread.start(body)
        }
    }
}

/// Lets a number of tries fail.
private final class FailingTries: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) {
        left = Mutex(count)
    }

    func succeedsNow() -> Bool {
        left.withLock { left in
            guard left > 0 else { return true }
            left -= 1
            return false
        }
    }
}

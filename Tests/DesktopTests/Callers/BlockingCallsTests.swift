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

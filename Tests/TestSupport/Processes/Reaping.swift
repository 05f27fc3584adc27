import Foundation
import KeychaindDBus

/// Checks that the event loop reaps its child processes.
package enum Reaping {
    /// The limit of event-loop turns until an event is handled; each turn handles some of the pending events.
    private static let turnLimit = 10_000

    /// Waits for a child's end, lets the event loop run, and returns whether the child was reaped.
    package static func hasReaped(_ id: Int32) async -> Bool {
        await waitForEnd(of: id)
        for _ in 0..<turnLimit where isThere(id) {
            await turnLoop()
        }
        return !isThere(id)
    }

    /// Whether a process has the id, including a zombie.
    private static func isThere(_ id: Int32) -> Bool {
        kill(id, 0) == 0 || errno != ESRCH
    }

    @BusActor
    private static func turnLoop() async {
        await BusActor.loop.wait(for: .zero)
    }

    private static func waitForEnd(of id: Int32) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var info = siginfo_t()
                while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
                continuation.resume()
            }
        }
    }
}

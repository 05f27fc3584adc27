import DBus
import Foundation

/// Looks whether processes that the event loop watches have been cleared away.
package enum Reaping {
    /// How many turns of the loop it may take to handle an event that has happened: each handles some of those that wait.
    private static let turnLimit = 10_000

    /// Waits until a child has ended, lets the loop turn, and tells whether it was reaped, so that no zombie is left.
    package static func hasReaped(_ id: Int32) async -> Bool {
        await waitForEnd(of: id)
        for _ in 0..<turnLimit where isThere(id) {
            await turnLoop()
        }
        return !isThere(id)
    }

    /// Whether a process has the id, a zombie included.
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

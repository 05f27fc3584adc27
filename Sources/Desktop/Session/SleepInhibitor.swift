import DBus
import Logging

/// Has the machine's sleep wait until those who have to act before it have done so.
@BusActor
final class SleepInhibitor {
    private enum State {
        /// Nobody is there to ask, or sleep does not wait.
        case off
        /// A delay was asked for, with that number; it is taken when the answer comes, unless that is too late.
        case asking(Int)
        /// Granted: logind waits until the descriptor is closed.
        case held(FileDescriptor)
        /// All have been told, and the machine sleeps, or will.
        case sleeping
    }

    private let logger: Logger
    private var state = State.off
    private var requests = 0

    /// Asks nobody before ``take(from:)``.
    init(logger: Logger) {
        self.logger = logger
    }

    /// Asks for a delay of the next sleep, unless there is one already.
    func take(from logind: Logind) {
        guard case .off = state else { return }
        requests += 1
        let number = requests
        state = .asking(number)
        BusActor.start { [self] in
            let answer: State
            do throws(BusError) {
                answer = .held(try await logind.delaySleep(reason: "Keychains are being locked"))
            } catch {
                logger.notice("logind does not wait before sleep", metadata: ["reason": "\(error.message)"])
                answer = .off
            }
            guard case .asking(number) = state else { return }
            state = answer
        }
    }

    /// Lets the machine sleep.
    func release() {
        state = .sleeping
    }

    /// Asks again, as the machine has woken up.
    func takeAgain(from logind: Logind) {
        state = .off
        take(from: logind)
    }

    /// Forgets what a logind has granted that is there no more.
    func reset() {
        state = .off
    }
}

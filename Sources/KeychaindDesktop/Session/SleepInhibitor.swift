import KeychaindDBus
import Logging

/// Delays sleep until the work before it is done, by an inhibitor lock of logind.
@BusActor
final class SleepInhibitor {
    private enum State {
        /// There is no logind, or it refused the lock.
        case off
        /// The request of that number is sent; a late reply is ignored.
        case asking(Int)
        /// logind waits until the descriptor is closed.
        case held(FileDescriptor)
        /// Released; the machine sleeps, or will soon.
        case sleeping
    }

    private let logger: Logger
    private var state = State.off
    private var requests = 0

    init(logger: Logger) {
        self.logger = logger
    }

    /// Requests the lock, unless it is held.
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
                logger.notice("Cannot delay sleep through logind", metadata: ["reason": "\(error.message)"])
                answer = .off
            }
            guard case .asking(number) = state else { return }
            state = answer
        }
    }

    func release() {
        state = .sleeping
    }

    /// Requests the lock again after sleep.
    func takeAgain(from logind: Logind) {
        state = .off
        take(from: logind)
    }

    func reset() {
        state = .off
    }
}

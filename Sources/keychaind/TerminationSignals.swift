import CLinux
import DBus
import Glibc

/// SIGTERM, SIGINT and SIGHUP as something to read on the event loop.
///
/// To be made before any thread is: threads inherit that the signals are blocked.
struct TerminationSignals: Sendable {
    private let descriptor: Int32

    init() {
        descriptor = keychaind_block_termination_signals()
        // A client that has gone must not end the daemon.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Calls the handler once, at the first signal.
    @BusActor
    func onFirst(_ handler: @escaping @BusActor () -> Void) {
        guard descriptor >= 0 else { return }
        BusActor.loop.watchReadable(descriptor) {
            BusActor.loop.unwatch(descriptor)
            handler()
        }
    }
}

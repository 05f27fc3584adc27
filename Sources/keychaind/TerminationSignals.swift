import CKeychaindLinux
import Glibc
import KeychaindDBus

/// SIGTERM, SIGINT and SIGHUP as a descriptor for the event loop.
///
/// Must be created before any thread: threads inherit the mask that blocks the signals.
struct TerminationSignals: Sendable {
    private let descriptor: Int32

    init() {
        descriptor = keychaind_block_termination_signals()
        // A disconnected client must not end the daemon.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Calls the handler on the first signal; a second SIGTERM or SIGINT ends the process immediately.
    @BusActor
    func onFirst(_ handler: @escaping @BusActor () -> Void) {
        guard descriptor >= 0 else { return }
        BusActor.loop.watchReadable(descriptor) {
            BusActor.loop.unwatch(descriptor)
            discard()
            keychaind_unblock_termination_signals()
            handler()
        }
    }

    /// Discards pending signals, which would end the process when unblocked.
    private func discard() {
        var information = signalfd_siginfo()
        while read(descriptor, &information, MemoryLayout<signalfd_siginfo>.size) > 0 {}
    }
}

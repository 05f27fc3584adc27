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

    /// Calls the handler once, at the first signal; another SIGTERM or SIGINT ends the process at once.
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

    /// Takes out what has come, which would end the process when signals are let through.
    private func discard() {
        var information = signalfd_siginfo()
        while read(descriptor, &information, MemoryLayout<signalfd_siginfo>.size) > 0 {}
    }
}

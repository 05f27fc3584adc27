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
        // Neither a disconnected client nor a limit of the size of files must end the daemon.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Runs a call that blocks, before other threads and files exist; SIGTERM and SIGINT end the process at once.
    static func endProcess<Result: ~Copyable, Failure: Error>(
        during body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        keychaind_end_at_termination_signals()
        defer { keychaind_keep_termination_signals() }
        return try body()
    }

    /// Calls the handler on the first signal; a second SIGTERM or SIGINT ends the process immediately.
    ///
    /// - Parameter reload: called at SIGHUP instead, if a service manager has started the process: without one, SIGHUP
    ///   says that the terminal is gone.
    @BusActor
    func onFirst(_ handler: @escaping @BusActor () -> Void, reload: @escaping @BusActor () -> Void) {
        guard descriptor >= 0 else { return }
        let reloads = ServiceManager.isThere
        BusActor.loop.watchReadable(descriptor) {
            let signals = take()
            guard !reloads || signals.contains(where: { $0 != SIGHUP }) else { return reload() }
            BusActor.loop.unwatch(descriptor)
            keychaind_unblock_termination_signals()
            handler()
        }
    }

    /// Takes the pending signals, which would end the process when unblocked.
    private func take() -> [Int32] {
        var signals: [Int32] = []
        var information = signalfd_siginfo()
        while read(descriptor, &information, MemoryLayout<signalfd_siginfo>.size) > 0 {
            signals.append(Int32(information.ssi_signo))
        }
        return signals
    }
}

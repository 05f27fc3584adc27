import CKeychaindLinux
import Glibc
import KeychaindDBus

/// Waits for the end of a process of any user.
@BusActor
final class ProcessWatch {
    private let descriptor: Int32

    /// Nil if there is no such process.
    ///
    /// - Parameter handler: called once, when the process has ended.
    init?(_ process: UInt32, _ handler: @escaping @BusActor () -> Void) {
        let descriptor = keychaind_process_descriptor(pid_t(truncatingIfNeeded: process))
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
        BusActor.loop.watchReadable(descriptor) {
            BusActor.loop.unwatch(descriptor)
            handler()
        }
    }

    isolated deinit {
        BusActor.loop.unwatch(descriptor)
        close(descriptor)
    }
}

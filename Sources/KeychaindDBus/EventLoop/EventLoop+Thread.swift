import CKeychaindLinux
import Glibc
import Synchronization

extension EventLoop {
    /// Runs the loop on a thread of its own, for programs that need their main thread; later calls do nothing.
    ///
    /// Returns false if no thread or descriptor is available; the caller may retry.
    @discardableResult
    package static func startThread() -> Bool {
        threadIsRunning.withLock { isRunning in
            if isRunning { return true }
            guard descriptorsAreLeft() else { return false }
            isRunning = makeThread()
            return isRunning
        }
    }

    private static let threadIsRunning = Mutex(false)

    /// Whether the descriptors that `init()` needs are available.
    private static func descriptorsAreLeft() -> Bool {
        let descriptors = [epoll_create1(Int32(EPOLL_CLOEXEC)), keychaind_eventfd(), keychaind_timer()]
        for descriptor in descriptors where descriptor >= 0 {
            close(descriptor)
        }
        return descriptors.allSatisfy { $0 >= 0 }
    }

    private static func makeThread() -> Bool {
        var everySignal = sigset_t()
        var signals = sigset_t()
        sigfillset(&everySignal)
        // The signals of the program are for its own threads.
        pthread_sigmask(SIG_SETMASK, &everySignal, &signals)
        defer { pthread_sigmask(SIG_SETMASK, &signals, nil) }
        var thread = pthread_t()
        let status = pthread_create(
            &thread,
            nil,
            { _ in
                _ = keychaind_set_thread_name("secret-service")
                BusActor.loop.run()
            },
            nil
        )
        guard status == 0 else { return false }
        pthread_detach(thread)
        return true
    }
}

import CKeychaindLinux
import Glibc
import KeychaindCommandLine
import KeychaindDBus
import KeychaindFiles
import KeychaindLanguage
import Synchronization

/// A program in the background that ends with this process.
final class ChildProcess: Sendable {
    /// The time to end in order.
    private static let patience = Duration.seconds(5)

    private let id: pid_t
    private let isReaped = Mutex(false)
    private let exit = Promise<Int32>()

    private init(_ id: pid_t) {
        self.id = id
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: its absolute path.
    ///   - descriptors: its descriptors from 0 on; -1 for `/dev/null`.
    static func start(
        _ program: String,
        _ arguments: [String],
        environment: [String: String],
        descriptors: [Int32]
    ) async throws(CommandFailure) -> ChildProcess {
        // By the thread of the event loop, which lives as long as the process: the program ends with its thread.
        let (id, status) = await spawn(program, arguments, environment, descriptors)
        guard id > 0, status == 0 else {
            throw CommandFailure(.failure, "\(program.visible) cannot be started: \(String(cString: strerror(status)))")
        }
        let child = ChildProcess(id)
        guard BlockingThread.start({ child.reap() }) else {
            kill(id, SIGKILL)
            throw CommandFailure(.failure, "the process has reached its limit of threads")
        }
        return child
    }

    @BusActor
    private static func spawn(
        _ program: String,
        _ arguments: [String],
        _ environment: [String: String],
        _ descriptors: [Int32]
    ) -> (pid_t, Int32) {
        var status: Int32 = 0
        let id = withCStrings([program] + arguments) { arguments in
            withCStrings(environment.map { "\($0.key)=\($0.value)" }) { environment in
                keychaind_spawn(program, arguments, environment, descriptors, Int32(descriptors.count), &status)
            }
        }
        return (id, status)
    }

    /// The exit status, or 128 and the signal.
    func waitForExit() async -> Int32 { await exit.value() }

    /// Nil if it does not end in time.
    func waitForExit(within time: Duration) async -> Int32? { await exit.value(within: time) }

    /// Ends the program, by force after five seconds.
    func end() async {
        send(SIGTERM)
        guard await exit.value(within: ChildProcess.patience) == nil else { return }
        send(SIGKILL)
        _ = await exit.value()
    }

    private func send(_ signal: Int32) {
        // Until it is reaped, its id cannot be reused.
        isReaped.withLock { isReaped in
            if !isReaped { kill(id, signal) }
        }
    }

    private func reap() {
        var info = siginfo_t()
        _ = retryingInterrupted { waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) }
        var status: Int32 = 0
        isReaped.withLock { isReaped in
            waitpid(id, &status, 0)
            isReaped = true
        }
        let signal = status & 0x7f
        let code = signal == 0 ? (status >> 8) & 0xff : 128 + signal
        let exit = exit
        Task(executorPreference: BusActor.loop) { @BusActor in _ = exit.fulfill(code) }
    }

    private static func withCStrings<Result>(
        _ strings: [String],
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers = strings.map { strdup($0) }
        defer { pointers.forEach { free($0) } }
        pointers.append(nil)
        return body(pointers)
    }
}

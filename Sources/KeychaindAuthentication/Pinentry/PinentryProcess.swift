import CKeychaindLinux
import Glibc
import KeychaindDBus

/// A running pinentry in its own session, with a socket as input and output.
///
/// The object lives until the process is reaped.
@BusActor
final class PinentryProcess {
    private enum State {
        case running
        /// Terminated; killed when the timer fires.
        case ending(patience: Timer)
        case reaped
    }

    /// The number that `WAYLAND_SOCKET` names.
    nonisolated static let compositorDescriptor = 3

    /// The time between SIGTERM and SIGKILL.
    private static let patience = Duration.seconds(2)

    /// This side of the non-blocking socket, open until ``end()``.
    let socket: Int32
    /// Called once if the process exits by itself.
    var onEnd: (@BusActor () -> Void)?
    /// Called once after the process is reaped.
    var onReaped: (@BusActor (_ bySignal: Bool) -> Void)?

    let id: pid_t
    private let handle: Int32
    private var state = State.running

    /// Throws ``PromptError/Code/unavailable`` if the program cannot be run.
    ///
    /// - Parameters:
    ///   - program: a path, or a name to look up in `PATH`.
    ///   - environment: the complete environment of the program.
    ///   - compositor: the program's descriptor ``compositorDescriptor``.
    init(_ program: String, environment: [String: String], compositor: FileDescriptor? = nil) throws(PromptError) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw PromptError(.failed, reason: "no socket for \(program): \(PinentryProcess.errorText(errno))")
        }
        let status: Int32
        (id, status) = PinentrySpawn(program, environment: environment).start(
            socket: ends[1],
            compositor: compositor?.rawValue
        )
        close(ends[1])
        guard status == 0 else {
            close(ends[0])
            throw PromptError(.unavailable, reason: "cannot run \(program): \(PinentryProcess.errorText(status))")
        }
        socket = ends[0]
        handle = keychaind_process_descriptor(id)
        guard handle >= 0 else {
            let status = errno
            close(ends[0])
            kill(-id, SIGKILL)
            waitpid(id, nil, 0)
            throw PromptError(.failed, reason: "cannot watch \(program): \(PinentryProcess.errorText(status))")
        }
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
        BusActor.loop.watchReadable(handle) { [self] in reap() }
    }

    /// Calls the handler when the socket becomes readable, until ``end()``.
    func onReadable(_ handler: @escaping @BusActor () -> Void) {
        guard case .running = state else { return }
        BusActor.loop.watchReadable(socket, handler: handler)
    }

    /// Sends a line; false if the program has ended or the socket is full.
    func send(_ command: AssuanCommand) -> Bool {
        guard case .running = state else { return false }
        let count = command.bytes.count
        return Glibc.send(socket, command.bytes, count, Int32(MSG_NOSIGNAL)) == count
    }

    /// Ends the program and its children; stops reading.
    func end() {
        guard case .running = state else { return }
        closeSocket()
        kill(-id, SIGTERM)
        let patience = BusActor.loop.schedule(after: PinentryProcess.patience) { [weak self] in
            guard let self, case .ending = state else { return }
            kill(-id, SIGKILL)
        }
        state = .ending(patience: patience)
    }

    private func closeSocket() {
        BusActor.loop.unwatch(socket)
        close(socket)
    }

    private func reap() {
        var ending = siginfo_t()
        // The event may belong to an earlier descriptor with the same number.
        let result = waitid(P_PID, id_t(id), &ending, WEXITED | WNOHANG | WNOWAIT)
        if result == 0 && ending.si_signo != SIGCHLD { return }
        kill(-id, SIGKILL)
        waitpid(id, nil, 0)
        BusActor.loop.unwatch(handle)
        close(handle)
        let ended = state
        state = .reaped
        switch ended {
        case .running:
            onEnd?()
            closeSocket()
        case .ending(let patience):
            BusActor.loop.cancel(patience)
        case .reaped:
            break
        }
        onEnd = nil
        let isSignaled = ending.si_code == CLD_KILLED || ending.si_code == CLD_DUMPED
        onReaped?(isSignaled)
        onReaped = nil
    }

    private static func errorText(_ code: Int32) -> String {
        String(cString: strerror(code))
    }
}

/// The program and environment of a pinentry to start.
struct PinentrySpawn {
    private let program: String
    private let environment: [String]

    init(_ program: String, environment: [String: String]) {
        self.program = program
        self.environment = environment.map { "\($0.key)=\($0.value)" }
    }

    /// Starts the program with only these sockets and the environment; the status is an errno.
    ///
    /// Its own session has no terminal, so it cannot ask on the daemon's. It dies with this process, so that no
    /// orphaned dialog accepts a password.
    func start(socket: Int32, compositor: Int32?) -> (id: pid_t, status: Int32) {
        var status: Int32 = 0
        // Its messages go to no log.
        let descriptors = [socket, socket, -1] + (compositor.map { [$0] } ?? [])
        let id = PinentrySpawn.withCStrings([program]) { arguments in
            PinentrySpawn.withCStrings(environment) { environment in
                keychaind_spawn(program, arguments, environment, descriptors, Int32(descriptors.count), &status)
            }
        }
        return (id, status)
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

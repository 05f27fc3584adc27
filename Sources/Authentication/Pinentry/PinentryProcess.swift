import CLinux
import DBus
import Glibc

/// A running pinentry: a process in a session of its own, with a socket for its input and output.
///
/// It lives until the process has ended and is reaped, whether anybody else holds it or not.
@BusActor
final class PinentryProcess {
    private enum State {
        case running
        /// Asked to end; killed when the timer is due.
        case ending(patience: Timer)
        case reaped
    }

    /// How long the program may take to end when it is asked to.
    private static let patience = Duration.seconds(2)

    /// Our end of the socket, until ``end()``; it does not block.
    let socket: Int32
    /// Called once, when the process has ended by itself.
    var onEnd: (@BusActor () -> Void)?
    /// Called once, when the process is gone, with whether it ended by a signal.
    var onReaped: (@BusActor (_ bySignal: Bool) -> Void)?

    let id: pid_t
    private let handle: Int32
    private var state = State.running

    /// Starts a program.
    ///
    /// Throws ``PromptError/Code/unavailable`` if there is no such program.
    ///
    /// - Parameters:
    ///   - program: a path, or a name to look up in `PATH`.
    ///   - environment: the whole environment of the program.
    init(_ program: String, environment: [String: String]) throws(PromptError) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw PromptError(.failed, reason: "there is no socket for \(program): \(PinentryProcess.errorText(errno))")
        }
        let status: Int32
        (id, status) = PinentrySpawn(program, environment: environment).start(socket: ends[1])
        close(ends[1])
        guard status == 0 else {
            close(ends[0])
            throw PromptError(.unavailable, reason: "\(program) cannot be run: \(PinentryProcess.errorText(status))")
        }
        socket = ends[0]
        handle = keychaind_process_descriptor(id)
        guard handle >= 0 else {
            close(ends[0])
            kill(-id, SIGKILL)
            waitpid(id, nil, 0)
            throw PromptError(.failed, reason: "\(program) cannot be watched: \(PinentryProcess.errorText(errno))")
        }
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
        BusActor.loop.watchReadable(handle) { [self] in reap() }
    }

    /// Calls a handler whenever there is something to read, until ``end()``.
    func onReadable(_ handler: @escaping @BusActor () -> Void) {
        guard case .running = state else { return }
        BusActor.loop.watchReadable(socket, handler: handler)
    }

    /// Sends a line; false if the program has ended, or does not read what it was sent.
    func send(_ command: AssuanCommand) -> Bool {
        guard case .running = state else { return false }
        let count = command.bytes.count
        return Glibc.send(socket, command.bytes, count, Int32(MSG_NOSIGNAL)) == count
    }

    /// Ends the program, and whatever it has started; it is not heard any more.
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

    /// The process has ended; until it is reaped its id is nobody else's.
    private func reap() {
        var ending = siginfo_t()
        // An event may be late, and have been meant for another descriptor that had the same number.
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

/// How a pinentry is started: with nothing of this process but a socket and the environment it is given.
struct PinentrySpawn {
    private let program: String
    private let environment: [String]

    init(_ program: String, environment: [String: String]) {
        self.program = program
        self.environment = environment.map { "\($0.key)=\($0.value)" }
    }

    /// Starts it; the status is an errno.
    ///
    /// In a session of its own it has no terminal, so that it cannot ask on the one that the daemon may have been
    /// started on. It ends with this process, however that ends: a dialog that nobody waits for must not take a
    /// password.
    func start(socket: Int32) -> (id: pid_t, status: Int32) {
        var status: Int32 = 0
        let id = PinentrySpawn.withCStrings([program]) { arguments in
            PinentrySpawn.withCStrings(environment) { environment in
                keychaind_spawn(program, arguments, environment, socket, &status)
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

import Glibc

/// A child process that ends with this object.
final class ChildProcess {
    private enum State {
        case running
        case ended
    }

    let id: pid_t
    private var state = State.running

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: a path, or a name to search in `PATH`.
    ///   - environment: the complete environment.
    ///   - input: the standard input, at most the size of a pipe.
    ///   - output: the file for output and errors.
    init(
        _ executable: String,
        _ arguments: [String],
        environment: [String: String],
        input: String = "",
        output: String
    ) throws(BenchmarkError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw BenchmarkError(reason: "cannot create a pipe") }
        defer { close(ends[0]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        _ = Array(input.utf8).withUnsafeBytes { write(ends[1], $0.baseAddress, $0.count) }
        close(ends[1])

        var id: pid_t = 0
        let status = ChildProcess.withCStrings([executable] + arguments) { arguments in
            ChildProcess.withCStrings(environment.map { "\($0.key)=\($0.value)" }) { environment in
                posix_spawnp(&id, executable, &actions, nil, arguments, environment)
            }
        }
        guard status == 0 else { throw BenchmarkError(reason: "\(executable) does not start") }
        self.id = id
    }

    deinit { stop(SIGKILL) }

    /// The resources used by the process.
    var usage: ProcessUsage { ProcessUsage(of: id) }

    /// Stops the process and waits for its end.
    func stop(_ signal: Int32 = SIGTERM) {
        guard case .running = state else { return }
        state = .ended
        kill(id, signal)
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0 && errno == EINTR {}
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

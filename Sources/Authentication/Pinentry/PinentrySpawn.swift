import CLinux
import Glibc

/// How a pinentry is started: with nothing of this process but a socket and the environment it is given.
struct PinentrySpawn {
    private let program: String
    private let environment: [String]

    init(_ program: String, environment: [String: String]) {
        self.program = program
        self.environment = environment.map { "\($0.key)=\($0.value)" }
    }

    /// Starts it; the status is an errno.
    func start(socket: Int32) -> (id: pid_t, status: Int32) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The daemon blocks some signals and ignores others, which a program would inherit.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // In a session of its own it has no terminal, so that it cannot ask on the one that the daemon may have been started on.
        let flags = keychaind_spawn_new_session | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var id: pid_t = 0
        let status = PinentrySpawn.withCStrings([program]) { arguments in
            PinentrySpawn.withCStrings(environment) { environment in
                posix_spawnp(&id, program, &actions, &attributes, arguments, environment)
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

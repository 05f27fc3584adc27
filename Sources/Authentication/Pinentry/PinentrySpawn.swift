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
    ///
    /// In a session of its own it has no terminal, so that it cannot ask on the one that the daemon may have been started on. It
    /// ends with this process, however that ends: a dialog that nobody waits for must not take a password.
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

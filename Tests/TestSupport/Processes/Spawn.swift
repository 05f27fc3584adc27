import CKeychaindLinux
import Foundation
import KeychaindLanguage

/// The start of a program in a new process group.
struct Spawn {
    private let executable: String
    private let arguments: [String]
    private let environment: [String]

    init(_ executable: String, _ arguments: [String], _ changes: [String: String?]) {
        self.executable = executable
        self.arguments = [executable] + arguments
        var environment = ProcessInfo.processInfo.environment
        // In English, on the machine of any developer.
        for name in LocaleNames.variables { environment[name] = nil }
        environment["LC_ALL"] = "C.UTF-8"
        for (name, value) in changes {
            environment[name] = value
        }
        self.environment = environment.map { "\($0.key)=\($0.value)" }
    }

    /// Starts the program and returns its process id.
    func start(_ stdin: Int32, _ stdout: Int32, _ stderr: Int32) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, stdin, 0)
        posix_spawn_file_actions_adddup2(&actions, stdout, 1)
        posix_spawn_file_actions_adddup2(&actions, stderr, 2)
        // Libraries open files and sockets without close-on-exec; a copy would keep a connection of another test open.
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var id: Int32 = 0
        let status = withCStrings(arguments) { arguments in
            withCStrings(environment) { environment in
                posix_spawnp(&id, executable, &actions, &attributes, arguments, environment)
            }
        }
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: status) ?? .EIO) }
        return id
    }

    private func withCStrings<Result>(
        _ strings: [String],
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers = strings.map { strdup($0) }
        defer { pointers.forEach { free($0) } }
        pointers.append(nil)
        return body(pointers)
    }
}

/// A pipe with close-on-exec ends, so that no other child keeps it open.
///
/// The caller closes both ends.
struct Pipe {
    let readEnd: Int32
    let writeEnd: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }
}

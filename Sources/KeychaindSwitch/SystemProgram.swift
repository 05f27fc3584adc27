import CKeychaindLinux
import Glibc
package import KeychaindCommandLine
import KeychaindFiles
import KeychaindLanguage

/// Programs of the system, such as `systemctl`.
package enum SystemProgram {
    /// Runs a program without input and output, and throws if it fails.
    ///
    /// - Parameter arguments: the path or name of the program, and its arguments.
    package static func run(_ arguments: [String]) throws(CommandFailure) {
        let status = status(arguments)
        guard status == 0 else {
            let command = arguments.joined(separator: " ")
            throw CommandFailure(
                .failure,
                status.map { Text("\(command) failed with status \($0)") } ?? Text("\(command) failed")
            )
        }
    }

    /// The exit status of a program; nil if it could not be run or was ended by a signal.
    package static func status(_ arguments: [String]) -> Int32? {
        guard let program = arguments.first else { return nil }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, mode) in [(STDIN_FILENO, O_RDONLY), (STDOUT_FILENO, O_WRONLY), (STDERR_FILENO, O_WRONLY)] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", mode, 0)
        }
        let pointers = arguments.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        var process: pid_t = 0
        guard posix_spawnp(&process, program, &actions, nil, pointers + [nil], environ) == 0 else { return nil }
        var status: Int32 = 0
        guard retryingInterrupted({ waitpid(process, &status, 0) }) >= 0 else { return nil }
        return status & 0x7f == 0 ? (status >> 8) & 0xff : nil
    }
}

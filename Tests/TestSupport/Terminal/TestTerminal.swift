import Foundation
import Synchronization

/// A terminal of the test's own: what a window or ssh has on the other side, the test has here.
package final class TestTerminal: Sendable {
    /// The path of its device.
    package let path: String

    /// `TIOCSPTLCK` and `TIOCGPTN`.
    private static let setLock = 0x4004_5431
    private static let getNumber = 0x8004_5430

    private let master: Int32
    private let slave: Int32
    /// All that was written to it, again and again as it grows.
    private let output = Recorder<String>()
    private let position = Mutex(0)

    package init() throws {
        // What posix_openpt(3), unlockpt(3) and ptsname(3) do, which Swift does not import.
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var lock: Int32 = 0
        var number: UInt32 = 0
        guard master >= 0, ioctl(master, UInt(TestTerminal.setLock), &lock) == 0,
            ioctl(master, UInt(TestTerminal.getNumber), &number) == 0
        else { throw POSIXError(.EIO) }
        path = "/dev/pts/\(number)"
        // Open all the time, so that it does not hang up between two programs.
        slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw POSIXError(.EIO) }
        Thread.detachNewThread { [master, output] in
            var all: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(master, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { break }
                all += buffer[..<count]
                output.record(String(decoding: all, as: UTF8.self))
            }
            close(master)
            output.finish()
        }
    }

    deinit {
        // The reader's end: without a program that has it open, it has an error instead of more output.
        close(slave)
    }

    /// Starts a command line of the shell's that has this for its controlling terminal, in the foreground.
    package func run(_ command: String, environment: [String: String?] = [:]) throws -> ChildProcess {
        let line = "exec setsid --wait --ctty bash -c '\(command)' <>'\(path)' 3>&1 >&0 2>&0"
        return try ChildProcess("bash", ["-c", line], environment: ["TERM": "xterm"].merging(environment) { $1 })
    }

    /// Waits until a text is written that was not waited for before.
    package func waitFor(_ text: String) async throws {
        let start = position.withLock { $0 }
        let all = try await output.first("“\(text)” on the terminal") { all in
            String(decoding: all.utf8.dropFirst(start), as: UTF8.self).contains(text)
        }
        position.withLock { $0 = all.utf8.count }
    }

    /// Waits for a line in which something stands after a text, and gives that.
    package func text(after mark: String) async throws -> String {
        let pattern = mark + ".*[\r\n]"
        let all = try await output.first("what is after “\(mark)” on the terminal") { all in
            all.range(of: pattern, options: .regularExpression) != nil
        }
        let range = all.range(of: pattern, options: .regularExpression)
        return range.map { String(all[$0].dropFirst(mark.count)).trimmingCharacters(in: .newlines) } ?? ""
    }

    /// Types on its keyboard; a return is `\r`.
    package func type(_ keys: String) {
        _ = write(master, keys, keys.utf8.count)
    }

    /// Whether it shows what is typed, as it does unless a program has set it otherwise.
    package var echoes: Bool {
        var settings = termios()
        return tcgetattr(slave, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }
}

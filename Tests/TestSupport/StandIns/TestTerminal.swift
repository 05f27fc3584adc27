import Foundation
import Synchronization

/// A pseudo-terminal; the test is at its other end, as a terminal window or ssh is.
package final class TestTerminal: Sendable {
    /// The path of its device.
    package let path: String

    /// `TIOCSPTLCK` and `TIOCGPTN`.
    private static let setLock = 0x4004_5431
    private static let getNumber = 0x8004_5430

    private let master: Int32
    private let slave: Int32
    /// The whole output, each time it grows.
    private let output = Recorder<String>()
    private let position = Mutex(0)

    package init() throws {
        // posix_openpt(3), unlockpt(3) and ptsname(3), which Swift does not import.
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var lock: Int32 = 0
        var number: UInt32 = 0
        guard master >= 0, ioctl(master, UInt(TestTerminal.setLock), &lock) == 0,
            ioctl(master, UInt(TestTerminal.getNumber), &number) == 0
        else { throw POSIXError(.EIO) }
        path = "/dev/pts/\(number)"
        // Kept open, so that it does not hang up between two programs.
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
        // Without a program that has it open, the reader gets an error.
        close(slave)
    }

    /// Starts a shell command in the foreground, with this as its controlling terminal.
    package func run(_ command: String, environment: [String: String?] = [:]) throws -> ChildProcess {
        let line = "exec setsid --wait --ctty bash -c '\(command)' <>'\(path)' 3>&1 >&0 2>&0"
        return try ChildProcess("bash", ["-c", line], environment: ["TERM": "xterm"].merging(environment) { $1 })
    }

    /// Waits for a text after the last one that was waited for.
    package func waitFor(_ text: String) async throws {
        let start = position.withLock { $0 }
        let all = try await output.first("“\(text)” on the terminal") { all in
            String(decoding: all.utf8.dropFirst(start), as: UTF8.self).contains(text)
        }
        position.withLock { $0 = all.utf8.count }
    }

    /// Waits for a line with this text and returns the rest of the line.
    package func text(after mark: String) async throws -> String {
        let pattern = mark + ".*[\r\n]"
        let all = try await output.first("what is after “\(mark)” on the terminal") { all in
            all.range(of: pattern, options: .regularExpression) != nil
        }
        let range = all.range(of: pattern, options: .regularExpression)
        return range.map { String(all[$0].dropFirst(mark.count)).trimmingCharacters(in: .newlines) } ?? ""
    }

    /// Types keys; a return is `\r`.
    package func type(_ keys: String) {
        _ = write(master, keys, keys.utf8.count)
    }

    /// Whether it echoes typed keys, which programs can turn off.
    package var echoes: Bool {
        var settings = termios()
        return tcgetattr(slave, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }
}

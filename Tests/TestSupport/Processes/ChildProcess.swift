import Foundation
import Synchronization

/// A process started by a test.
///
/// This object's end kills it with its process group.
package final class ChildProcess: Sendable {
    private enum State {
        case running
        case ended
    }

    /// The process id, also of its process group.
    package let id: Int32
    package let standardOutput: ChildOutput
    package let standardError: ChildOutput
    private let monitor: Monitor
    private let folder: TemporaryFolder?
    private static let starting = Mutex(())

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: a path, or a name to look up in `PATH`.
    ///   - environment: changes to this process's environment; nil removes a variable.
    ///   - input: the program's standard input.
    ///   - folder: a folder that is not removed before the process has ended.
    package init(
        _ executable: String,
        _ arguments: [String] = [],
        environment: [String: String?] = [:],
        input: [UInt8] = [],
        keeping folder: TemporaryFolder? = nil
    ) throws {
        self.folder = folder
        let spawn = Spawn(executable, arguments, environment)
        // A pipe is created and marked close-on-exec in two steps; no other program may start in between.
        let (id, stdin, stdout, stderr) = try ChildProcess.starting.withLock { _ in
            let (stdin, stdout, stderr) = (try Pipe(), try Pipe(), try Pipe())
            let id = try spawn.start(stdin.readEnd, stdout.writeEnd, stderr.writeEnd)
            Leftovers.add(process: id)
            close(stdin.readEnd)
            close(stdout.writeEnd)
            close(stderr.writeEnd)
            return (id, stdin, stdout, stderr)
        }
        self.id = id
        standardOutput = ChildOutput(reading: stdout.readEnd)
        standardError = ChildOutput(reading: stderr.readEnd)
        monitor = Monitor(id)
        ChildProcess.feed(input, to: stdin.writeEnd)
    }

    deinit {
        end()
    }

    /// Kills the process group and waits for the process.
    func end() {
        monitor.signal(SIGKILL, group: true)
        monitor.waitBlocking()
    }

    /// Whether the process is still running.
    package var isRunning: Bool {
        monitor.exit.count == 0
    }

    /// Sends a signal if the process is still running.
    package func send(_ signal: Int32) {
        monitor.signal(signal, group: false)
    }

    /// Waits for the process to end.
    @discardableResult
    package func waitForExit(within limit: Duration = Patience.limit) async throws -> ExitStatus {
        try await monitor.exit.first("the end of a process", within: limit)
    }

    /// Sends SIGTERM and waits for the process to end.
    @discardableResult
    package func terminate() async throws -> ExitStatus {
        send(SIGTERM)
        return try await waitForExit()
    }

    /// Sends SIGKILL and waits for the process to end.
    package func kill() async throws {
        send(SIGKILL)
        try await waitForExit()
    }

    private static func feed(_ input: [UInt8], to descriptor: Int32) {
        guard !input.isEmpty else {
            close(descriptor)
            return
        }
        // A program may end before it has read its input.
        signal(SIGPIPE, SIG_IGN)
        Thread.detachNewThread {
            var rest = input[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { break }
                rest = rest.dropFirst(count)
            }
            close(descriptor)
        }
    }
}

extension ChildProcess {
    /// Waits for the process on a thread, and guards against signalling a reused id.
    private final class Monitor: Sendable {
        let exit = Recorder<ExitStatus>()
        private let id: Int32
        private let state = Mutex(State.running)
        private let ended = DispatchSemaphore(value: 0)

        init(_ id: Int32) {
            self.id = id
            Thread.detachNewThread { self.wait() }
        }

        func signal(_ signal: Int32, group: Bool) {
            state.withLock { state in
                guard case .running = state else { return }
                _ = Glibc.kill(group ? -id : id, signal)
            }
        }

        func waitBlocking() {
            ended.wait()
            ended.signal()
        }

        private func wait() {
            var info = siginfo_t()
            while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
            // Until the process is reaped, its id cannot be reused.
            _ = Glibc.kill(-id, SIGKILL)
            var status: Int32 = 0
            state.withLock { state in
                waitpid(id, &status, 0)
                state = .ended
            }
            Leftovers.remove(process: id)
            let signal = status & 0x7f
            exit.record(signal == 0 ? .exited((status >> 8) & 0xff) : .killed(signal: signal))
            ended.signal()
        }
    }
}

/// How a process ended.
package enum ExitStatus: Hashable, Sendable {
    case exited(Int32)
    case killed(signal: Int32)

    package static let success = ExitStatus.exited(0)
}

/// An output of a process, as lines while it runs and as bytes at its end.
package final class ChildOutput: Sendable {
    /// The complete lines so far, without line ends.
    package let lines = Recorder<String>()
    private let complete = Recorder<[UInt8]>()

    /// Reads the descriptor on a thread until its end, and closes it.
    init(reading descriptor: Int32) {
        let (lines, complete) = (lines, complete)
        Thread.detachNewThread {
            var all: [UInt8] = []
            var lineStart = 0
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { break }
                all += buffer[..<count]
                while let end = all[lineStart...].firstIndex(of: UInt8(ascii: "\n")) {
                    lines.record(String(decoding: all[lineStart..<end], as: UTF8.self))
                    lineStart = end + 1
                }
            }
            close(descriptor)
            if lineStart < all.count {
                lines.record(String(decoding: all[lineStart...], as: UTF8.self))
            }
            lines.finish()
            complete.record(all)
        }
    }

    /// The whole output, after the process has closed it.
    package func bytes() async throws -> [UInt8] {
        try await complete.first("the end of a process's output")
    }

    /// The whole output as text.
    package func text() async throws -> String {
        String(decoding: try await bytes(), as: UTF8.self)
    }
}

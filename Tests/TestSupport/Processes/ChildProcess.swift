import Foundation
import Synchronization

/// A process that a test has started; it and what it has started end with this object.
package final class ChildProcess: Sendable {
    private enum State {
        case running
        case ended
    }

    /// The id, also that of its process group.
    package let id: Int32
    package let standardOutput: ChildOutput
    package let standardError: ChildOutput
    private let monitor: Monitor
    private static let starting = Mutex(())

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: a path, or a name to look up in `PATH`.
    ///   - environment: changes to this process's environment; nil takes a variable away.
    ///   - input: what the program reads from its standard input.
    package init(
        _ executable: String,
        _ arguments: [String] = [],
        environment: [String: String?] = [:],
        input: [UInt8] = []
    ) throws {
        let spawn = Spawn(executable, arguments, environment)
        // A pipe is made and marked in two steps, between which nobody else may start a program.
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

    /// Ends the process and what it has started, and waits for it; for an owner that goes, and its folder with it.
    func end() {
        monitor.signal(SIGKILL, group: true)
        monitor.waitBlocking()
    }

    /// Whether the process has not ended yet.
    package var isRunning: Bool {
        monitor.exit.count == 0
    }

    /// Sends a signal, unless the process has ended.
    package func send(_ signal: Int32) {
        monitor.signal(signal, group: false)
    }

    /// Waits for the end.
    @discardableResult
    package func waitForExit(within limit: Duration = Patience.limit) async throws -> ExitStatus {
        try await monitor.exit.first("the end of a process", within: limit)
    }

    /// Asks the process to end, and waits until it has.
    @discardableResult
    package func terminate() async throws -> ExitStatus {
        send(SIGTERM)
        return try await waitForExit()
    }

    /// Ends the process without giving it a chance to do anything more.
    package func kill() async throws {
        send(SIGKILL)
        try await waitForExit()
    }

    private static func feed(_ input: [UInt8], to descriptor: Int32) {
        guard !input.isEmpty else {
            close(descriptor)
            return
        }
        // A program may end without having read its input.
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
    /// Waits for the process on a thread, and knows whether its id is still its own.
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
            // As long as the process has not been reaped its id cannot be given to another.
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

import CKeychaindLinux
import Dispatch
import Glibc
import KeychaindFiles
import KeychaindLanguage

/// Ctrl-C, SIGTERM and SIGHUP as a cancellation, so that a command can clean up.
///
/// A command that nohup(1) has started stays when its terminal is gone.
///
/// `@unchecked Sendable`: dispatch sources may be used by any thread, but do not say so.
package final class Interruption: @unchecked Sendable {
    /// Becomes readable at the first signal, for waits that do not see the cancellation of a task.
    package let descriptor: Int32
    private let sources: [any DispatchSourceSignal]

    private static let signals = [SIGINT, SIGTERM] + (Interruption.ignoresHangup ? [] : [SIGHUP])

    /// Whether the program was started with SIGHUP ignored.
    private static var ignoresHangup: Bool {
        var hangup = sigaction()
        sigaction(SIGHUP, nil, &hangup)
        let handler = hangup.__sigaction_handler.sa_handler
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Returns once each signal is noticed; until then it ends the process, whose command has not begun.
    private init(_ onSignal: @escaping @Sendable () -> Void) async {
        let descriptor = keychaind_eventfd()
        self.descriptor = descriptor
        sources = Interruption.signals.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                var one: UInt64 = 1
                _ = write(descriptor, &one, MemoryLayout.size(ofValue: one))
                onSignal()
            }
            return source
        }
        // Dispatch installs its handler of a signal on a thread of its own.
        let registered = DispatchGroup()
        for source in sources {
            registered.enter()
            source.setRegistrationHandler { registered.leave() }
            source.resume()
        }
        await withCheckedContinuation { continuation in
            registered.notify(queue: .global()) { continuation.resume() }
        }
    }

    deinit {
        for source in sources { source.cancel() }
        close(descriptor)
    }

    /// Runs an operation whose task a signal cancels.
    ///
    /// Throws ``ExitStatus/cancelled`` if the operation ends by a `CancellationError`.
    package static func cancelling(
        _ operation: @escaping @Sendable (Interruption) async throws -> Void
    ) async throws {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self)
        let interruption = await Interruption { signal.yield() }
        let work = Task {
            defer { signal.finish() }
            try await operation(interruption)
        }
        let watch = Task {
            for await _ in signals { work.cancel() }
        }
        defer { watch.cancel() }
        do {
            try await work.value
        } catch is CancellationError {
            throw CommandFailure(.cancelled, "interrupted; run the command again to continue")
        }
    }
}

extension Interruption {
    /// Waits until a descriptor can be read or has ended; throws ``ExitStatus/cancelled`` at a signal.
    package func waitForInput(_ descriptor: Int32) throws(CommandFailure) {
        guard Interruption.isReady(descriptor, for: POLLIN, unless: self.descriptor) else {
            throw CommandFailure(.cancelled, "interrupted")
        }
    }

    /// Waits until a descriptor is ready for an event or has ended; false at a signal.
    ///
    /// - Parameters:
    ///   - event: `POLLIN` or `POLLOUT`.
    ///   - interruption: the descriptor of an interruption.
    package static func isReady(_ descriptor: Int32, for event: Int32, unless interruption: Int32) -> Bool {
        var events = [
            pollfd(fd: descriptor, events: Int16(event), revents: 0),
            pollfd(fd: interruption, events: Int16(POLLIN), revents: 0),
        ]
        _ = retryingInterrupted { poll(&events, 2, -1) }
        return events[1].revents == 0
    }
}

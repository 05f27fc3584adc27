import Glibc
package import KeychaindDBus
package import Logging

/// The connection to the system bus, made at first use, and again after a loss.
///
/// Never blocks the event loop. An unresponsive system bus delays only the callers that need it.
@BusActor
package final class SystemBus {
    private enum State {
        case idle
        case connecting(Attempt)
        case connected(Connection)
        /// Not retried before that time, as each caller would wait for the whole timeout of a silent bus.
        case unavailable(BusError, until: ContinuousClock.Instant)
        case closed
    }

    /// A try to connect: nil when it has succeeded, or when the bus was closed meanwhile.
    private typealias Attempt = Promise<BusError?>

    private let address: String
    private let timeout: Duration
    private let pause: Duration
    private let logger: Logger
    private var state = State.idle
    private var followers: [@BusActor (Connection?) -> Void] = []
    private var retry: Timer?
    private var failuresInARow = 0

    /// Does not connect yet.
    ///
    /// - Parameters:
    ///   - timeout: the time limit for a connection.
    ///   - pause: the time between tries; for followers it grows to 64 times as long.
    package init(
        address: String = SystemBus.standardAddress,
        timeout: Duration = .seconds(10),
        pause: Duration = .seconds(1),
        logger: Logger
    ) {
        self.address = address
        self.timeout = timeout
        self.pause = pause
        self.logger = logger
    }

    /// `DBUS_SYSTEM_BUS_ADDRESS`, or the address in the D-Bus specification.
    package nonisolated static var standardAddress: String {
        guard let variable = getenv("DBUS_SYSTEM_BUS_ADDRESS").map({ String(cString: $0) }), !variable.isEmpty else {
            return "unix:path=/var/run/dbus/system_bus_socket"
        }
        return variable
    }

    /// The connection, made if there is none.
    ///
    /// Throws the error of a failed try, and repeats it at once for a while; `NoReply` if the bus does not answer.
    package func connection() async throws(BusError) -> Connection {
        while true {
            switch state {
            case .connected(let connection):
                return connection
            case .connecting(let attempt):
                try await wait(for: attempt)
            case .unavailable(let error, let instant) where ContinuousClock.now < instant:
                throw error
            case .closed:
                throw BusError(.disconnected, "the connection to the system bus was closed")
            case .idle, .unavailable:
                try await wait(for: connect())
            }
        }
    }

    /// Throws the error of the try: when the wait ends, that of the state may already be too old.
    private func wait(for attempt: Attempt) async throws(BusError) {
        if let error = await attempt.value() { throw error }
        if case .idle = state { throw BusError(.disconnected, "the system bus closed the connection") }
    }

    package var isConnected: Bool {
        if case .connected = state { true } else { false }
    }

    /// Whether this process has closed it for good.
    package var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// Keeps a connection, and calls the handler with each new one, and with nil when it is lost.
    package func follow(_ handler: @escaping @BusActor (Connection?) -> Void) {
        followers.append(handler)
        if case .connected(let connection) = state {
            handler(connection)
        } else {
            reconnect()
        }
    }

    /// Closes the connection for good; tasks that wait for one fail.
    package func close() {
        let before = state
        state = .closed
        cancelRetry()
        followers = []
        switch before {
        case .connecting(let attempt):
            attempt.fulfill(nil)
        case .connected(let connection):
            connection.onDisconnect = nil
            connection.close()
        case .idle, .unavailable, .closed:
            break
        }
    }

    // MARK: Connecting

    /// Starts to connect; the promise is fulfilled when that ends, or the bus is closed.
    private func connect() -> Attempt {
        let attempt = Attempt()
        state = .connecting(attempt)
        BusActor.start { [self] in
            do throws(BusError) {
                let connection = try await Connection.open(address, timeout: timeout)
                if case .connecting = state { adopt(connection) } else { connection.close() }
                attempt.fulfill(nil)
            } catch {
                if case .connecting = state { fail(error) }
                attempt.fulfill(error)
            }
        }
        return attempt
    }

    private func adopt(_ connection: Connection) {
        state = .connected(connection)
        failuresInARow = 0
        cancelRetry()
        connection.onDisconnect = { [weak self, weak connection] in
            connection?.close()
            self?.lost()
        }
        for follower in followers {
            follower(connection)
        }
    }

    private func lost() {
        guard case .connected = state else { return }
        logger.notice("The connection to the system bus was lost; trying again")
        state = .idle
        for follower in followers {
            follower(nil)
        }
        scheduleRetry()
    }

    private func fail(_ error: BusError) {
        if failuresInARow == 0 {
            logger.info("There is no system bus", metadata: ["reason": "\(error.message)"])
        }
        failuresInARow += 1
        state = .unavailable(error, until: .now + pause)
        scheduleRetry()
    }

    // MARK: Trying again

    private func scheduleRetry() {
        guard !followers.isEmpty, retry == nil else { return }
        let delay = pause * (1 << min(failuresInARow, 6))
        retry = BusActor.loop.schedule(after: delay) { [weak self] in
            self?.retry = nil
            self?.reconnect()
        }
    }

    private func cancelRetry() {
        guard let retry else { return }
        BusActor.loop.cancel(retry)
        self.retry = nil
    }

    private func reconnect() {
        BusActor.start { [self] in
            do throws(BusError) {
                _ = try await connection()
            } catch {
                // The error may be that of a try before, which scheduled none after this one.
                scheduleRetry()
            }
        }
    }
}

/// The common time limit of several calls, on the monotonic clock.
package struct Deadline: Sendable {
    private let instant: ContinuousClock.Instant

    package init(after time: Duration) {
        instant = .now + time
    }

    /// The remaining time; zero when it has passed.
    package var rest: Duration {
        max(.zero, ContinuousClock.now.duration(to: instant))
    }
}

import Glibc
import KeychaindDBus
import KeychaindGcrypt

/// A connection to the user's Secret Service provider: keychaind or another.
///
/// Create one client per program, and use it from any number of tasks. The first secret opens a session that encrypts
/// secrets on the bus. After a restart or replacement of the provider, the next call finds the new one. After the end
/// of the bus, every call fails with ``SecretServiceError/Code/disconnected``, and a new client is needed.
///
/// No call waits forever; cancelling the task ends a call immediately. The client does not touch the rest of the
/// process: signals, other users of libdbus and libgcrypt, or the standard streams. In a child made by `fork` without
/// `exec`, every call fails with ``SecretServiceError/Code/forked``.
public final class SecretClient: Sendable {
    /// The configuration of the connection.
    public let configuration: Configuration

    let link: ProviderLink
    private let processID: pid_t

    private init(_ configuration: Configuration, _ link: ProviderLink) {
        self.configuration = configuration
        self.link = link
        processID = getpid()
    }

    deinit {
        let link = link
        // Not in a forked child: it has no event-loop thread, and the socket is its parent's.
        guard getpid() == processID else { return }
        SecretClient.enqueue { link.close() }
    }

    // MARK: Connecting

    /// Connects to the bus, and finds or starts the provider.
    ///
    /// Throws ``SecretServiceError/Code/busUnavailable`` or ``SecretServiceError/Code/providerUnavailable``.
    public static func connect(
        _ configuration: Configuration = Configuration()
    ) async throws(SecretServiceError) -> SecretClient {
        let address = try configuration.bus.address()
        guard EventLoop.startThread() else {
            throw SecretServiceError(.busUnavailable, "the process has reached its limit of threads or descriptors")
        }
        Connection.leaveSignalsAlone()
        let link = try await open(address, configuration)
        let client = SecretClient(configuration, link)
        _ = try await client.onLink { (link) throws(SecretServiceError) in try await link.provider() }
        return client
    }

    /// Connects to the bus if it has a provider; starts none.
    ///
    /// Nil without a bus or a provider.
    package static func connectToRunning(
        _ configuration: Configuration = Configuration()
    ) async throws(SecretServiceError) -> SecretClient? {
        guard let address = try? configuration.bus.address() else { return nil }
        guard EventLoop.startThread() else {
            throw SecretServiceError(.busUnavailable, "the process has reached its limit of threads or descriptors")
        }
        Connection.leaveSignalsAlone()
        guard let link = try? await open(address, configuration) else { return nil }
        let client = SecretClient(configuration, link)
        let isThere = try await client.onLink { (link) throws(SecretServiceError) in
            do throws(BusError) {
                return try await link.connection.owner(of: ProviderLink.providerName) != nil
            } catch {
                throw SecretServiceError(answered: error)
            }
        }
        return isThere ? client : nil
    }

    private static func open(
        _ address: String,
        _ configuration: Configuration
    ) async throws(SecretServiceError) -> ProviderLink {
        let opening = Promise<Result<ProviderLink, SecretServiceError>>()
        _ = startTask {
            do throws(BusError) {
                let connection = try await Connection.open(address, timeout: configuration.connectTimeout)
                let link = ProviderLink(connection, configuration)
                if !opening.fulfill(.success(link)) { link.close() }
            } catch {
                let isLate = error.name == .noReply
                let failure = SecretServiceError(.busUnavailable, error.message, errorName: error.name.rawValue)
                opening.fulfill(.failure(isLate ? .timedOut("connecting to the bus") : failure))
            }
        }
        return try await opening.get()
    }

    /// Closes the connection, as does the end of the last reference to the client, its collections and items.
    ///
    /// Pending and later calls fail with ``SecretServiceError/Code/disconnected``.
    public func close() {
        guard getpid() == processID else { return }
        let link = link
        SecretClient.enqueue { link.close() }
    }

    // MARK: The event loop

    /// Runs an operation on the event loop, and waits for it until the task is cancelled.
    ///
    /// - Parameter abandon: disposes of a result that arrives after the cancellation.
    func onLink<Value: Sendable>(
        _ operation: @escaping @BusActor @Sendable (ProviderLink) async throws(SecretServiceError) -> Value,
        abandon: @escaping @Sendable (Value) -> Void = { _ in }
    ) async throws(SecretServiceError) -> Value {
        guard getpid() == processID else {
            throw SecretServiceError(.forked, "a forked child cannot use its parent's connection")
        }
        let link = link
        let outcome = Promise<Result<Value, SecretServiceError>>()
        let task = SecretClient.startTask {
            do throws(SecretServiceError) {
                let value = try await operation(link)
                if !outcome.fulfill(.success(value)) { abandon(value) }
            } catch {
                outcome.fulfill(.failure(error))
            }
        }
        do throws(SecretServiceError) {
            return try await outcome.get()
        } catch {
            // Ends the operation if the waiting task was cancelled; has no effect otherwise.
            task.cancel()
            throw error
        }
    }

    func sendLater(_ message: Message, to owner: String) {
        let link = link
        guard getpid() == processID else { return }
        SecretClient.enqueue { link.send(message, to: owner) }
    }

    private static func startTask(_ body: @escaping @BusActor @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: BusActor.loop, operation: body)
    }

    private static func enqueue(_ operation: @escaping @BusActor @Sendable () -> Void) {
        Task(executorPreference: BusActor.loop) { @BusActor in operation() }
    }
}

extension Promise {
    /// Waits for the result; cancelling the task fulfills the promise with ``SecretServiceError/cancelled``.
    nonisolated func get<Success>() async throws(SecretServiceError) -> Success
    where Value == Result<Success, SecretServiceError> {
        let result = await withTaskCancellationHandler {
            await value()
        } onCancel: {
            Task(executorPreference: BusActor.loop) { @BusActor in self.fulfill(.failure(.cancelled)) }
        }
        return try result.get()
    }
}

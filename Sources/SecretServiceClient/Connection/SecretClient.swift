import DBus
import Gcrypt
import Glibc
import Synchronization

/// A program's connection to the user's Secret Service provider, be it keychaind or another.
///
/// It may be used from any task, by many at a time, and is meant to be made once. A session, in which secrets are encrypted, is opened
/// with the first secret and kept. When the provider is replaced, or starts again, the next call finds the new one; when the bus goes,
/// everything fails with ``SecretServiceError/Code/disconnected`` and a new client is needed.
///
/// No call waits for ever, and each ends at once when its task is cancelled. None of this touches the rest of the process: signals,
/// other users of libdbus and libgcrypt, and the standard streams are left as they are. A child made by `fork` without `exec` cannot
/// use its parent's client, and is told so.
public final class SecretClient: Sendable {
    /// How it was connected.
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
        // A child that was forked has no thread that would close it, and must not: the socket is its parent's.
        guard getpid() == processID else { return }
        SecretClient.enqueue { link.close() }
    }

    // MARK: Connecting

    /// Connects to the bus, and finds or starts the provider.
    ///
    /// Throws ``SecretServiceError/Code/busUnavailable`` or ``SecretServiceError/Code/providerUnavailable`` when there is none.
    public static func connect(
        _ configuration: Configuration = Configuration()
    ) async throws(SecretServiceError) -> SecretClient {
        let address = try configuration.bus.address()
        guard EventLoop.startThread() else {
            throw SecretServiceError(.busUnavailable, "the process may have no more threads or descriptors")
        }
        Connection.leaveSignalsAlone()
        let link = try await open(address, configuration)
        let client = SecretClient(configuration, link)
        _ = try await client.onLink { (link) throws(SecretServiceError) in try await link.provider() }
        return client
    }

    private static func open(
        _ address: String,
        _ configuration: Configuration
    ) async throws(SecretServiceError) -> ProviderLink {
        let opening = Settlement<ProviderLink>()
        _ = startTask {
            do throws(BusError) {
                let connection = try await Connection.open(address, timeout: configuration.connectTimeout)
                let link = ProviderLink(connection, configuration)
                if !opening.settle(.success(link)) { link.close() }
            } catch {
                let isLate = error.name == .noReply
                let reason = SecretServiceError(.busUnavailable, error.message, errorName: error.name.rawValue)
                opening.settle(.failure(isLate ? .timedOut("connecting to the bus") : reason))
            }
        }
        return try await opening.value()
    }

    /// Leaves the bus; every call that waits, and every later one, fails with ``SecretServiceError/Code/disconnected``.
    ///
    /// Happens by itself when nobody holds the client, a collection or an item any more.
    public func close() {
        guard getpid() == processID else { return }
        let link = link
        SecretClient.enqueue { link.close() }
    }

    // MARK: The event loop

    /// Runs an operation with the link on the event loop, and waits for it until the task is cancelled.
    ///
    /// - Parameter abandon: what becomes of a result that nobody waits for any more.
    func onLink<Value: Sendable>(
        _ operation: @escaping @BusActor @Sendable (ProviderLink) async throws(SecretServiceError) -> Value,
        abandon: @escaping @Sendable (Value) -> Void = { _ in }
    ) async throws(SecretServiceError) -> Value {
        guard getpid() == processID else {
            throw SecretServiceError(.forked, "the connection belongs to the parent of this process")
        }
        let link = link
        let settlement = Settlement<Value>()
        let task = SecretClient.startTask {
            await SecretClient.run(operation, with: link, settling: settlement, abandon: abandon)
        }
        do throws(SecretServiceError) {
            return try await settlement.value()
        } catch {
            // Without effect unless it was this task that was cancelled: then what it waits for is to be cleaned up.
            task.cancel()
            throw error
        }
    }

    @BusActor
    private static func run<Value: Sendable>(
        _ operation: @BusActor (ProviderLink) async throws(SecretServiceError) -> Value,
        with link: ProviderLink,
        settling settlement: Settlement<Value>,
        abandon: (Value) -> Void
    ) async {
        do throws(SecretServiceError) {
            let value = try await operation(link)
            if !settlement.settle(.success(value)) { abandon(value) }
        } catch {
            settlement.settle(.failure(error))
        }
    }

    /// Sends a call whose answer does not matter, some time soon.
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

import DBus

/// The connection to the bus and the provider behind it, on the event loop.
///
/// Everything is sent to the provider's unique name, and heard only from that: a session, a prompt and what a signal says belong to
/// one provider and mean nothing to its successor.
@BusActor
final class ProviderLink {
    /// The name that every provider takes (spec #1).
    nonisolated static let providerName = "org.freedesktop.secrets"

    private enum State {
        case open
        case closed
    }

    let connection: Connection
    let configuration: SecretClient.Configuration

    /// The unique name of the provider; nil before it is known, and when there is none.
    private(set) var owner: String?

    /// The open session, if there is one.
    var session: ProviderSession?

    /// The opening of a session that is under way; there is one at a time.
    var sessionOpening: Task<Result<ProviderSession, SecretServiceError>, Never>?

    private var state = State.open
    private var ownerChanges = 0
    private var onOwnerLost: [UInt64: @BusActor (SecretServiceError) -> Void] = [:]
    private var watcherCount: UInt64 = 0
    let changes = ChangeReader()

    /// Takes over a connection, and begins to watch who the provider is.
    init(_ connection: Connection, _ configuration: SecretClient.Configuration) {
        self.connection = connection
        self.configuration = configuration
        connection.onDisconnect = { [weak self] in self?.end() }
        connection.subscribe(to: .ownerChanged(of: Self.providerName)) { [weak self] message in
            guard let (name, _, owner) = try? message.read(String.self, String.self, String.self) else { return }
            if name == Self.providerName { self?.setOwner(owner.isEmpty ? nil : owner) }
        }
    }

    /// Leaves the bus.
    func close() {
        // Not flushed: a bus that has stopped would never let go of the thread.
        connection.close(flushing: false)
        end()
    }

    /// Whether the bus is still there, whoever provides what on it.
    var isConnected: Bool {
        if case .open = state { connection.isConnected } else { false }
    }

    private func end() {
        guard case .open = state else { return }
        state = .closed
        owner = nil
        session = nil
        failWatchers(.closed)
        changes.finish()
    }

    // MARK: The provider

    /// The unique name of the provider, which is started if it does not run.
    func provider() async throws(SecretServiceError) -> String {
        try checkOpen()
        if let owner { return owner }
        do throws(BusError) {
            if try await learnOwner() == nil {
                try await connection.startService(Self.providerName, timeout: configuration.connectTimeout)
                _ = try await learnOwner()
            }
        } catch {
            try checkOpen()
            throw SecretServiceError(.providerUnavailable, error.message, errorName: error.name.rawValue)
        }
        try checkOpen()
        guard let owner else {
            throw SecretServiceError(.providerUnavailable, "nobody on the bus has the name \(Self.providerName)")
        }
        return owner
    }

    private func learnOwner() async throws(BusError) -> String? {
        let before = ownerChanges
        let found = try await connection.owner(of: Self.providerName)
        // A signal that came meanwhile is newer than the answer.
        if case .open = state, ownerChanges == before { setOwner(found) }
        return owner
    }

    private func setOwner(_ newOwner: String?) {
        guard newOwner != owner else { return }
        ownerChanges += 1
        let hadOwner = owner != nil
        owner = newOwner
        session = nil
        if hadOwner { failWatchers(.providerGone) }
        changes.follow(newOwner, on: connection)
    }

    private func checkOpen() throws(SecretServiceError) {
        guard case .open = state else { throw .closed }
    }

    // MARK: The end of the provider

    /// Calls back, at most once, when the provider or the bus goes.
    func watchOwner(_ action: @escaping @BusActor (SecretServiceError) -> Void) -> UInt64 {
        watcherCount += 1
        onOwnerLost[watcherCount] = action
        return watcherCount
    }

    func unwatchOwner(_ watcher: UInt64) {
        onOwnerLost[watcher] = nil
    }

    private func failWatchers(_ error: SecretServiceError) {
        let actions = onOwnerLost.values
        onOwnerLost = [:]
        for action in actions {
            action(error)
        }
    }

    // MARK: Calls

    /// Sends a call to the provider and waits for the answer.
    ///
    /// - Parameters:
    ///   - expected: the provider that the call is for; nil if any will do.
    ///   - timeout: how long the provider may take; nil for the usual time.
    func call(
        _ message: Message,
        to expected: String? = nil,
        timeout: Duration? = nil
    ) async throws(SecretServiceError) -> Message {
        let owner = try await provider()
        guard expected == nil || expected == owner else {
            throw SecretServiceError(.noSession, "the session was one of an earlier provider")
        }
        message.setDestination(owner)
        let start = ContinuousClock.now
        let timeout = timeout ?? configuration.callTimeout
        do throws(BusError) {
            return try await connection.call(message, timeout: timeout)
        } catch {
            // The bus answers "no reply" too when whoever was called has left, but at once.
            if error.name == .noReply, ContinuousClock.now - start < timeout { throw .providerGone }
            throw SecretServiceError(answered: error)
        }
    }

    /// Sends a call whose answer does not matter.
    func send(_ message: Message, to destination: String) {
        guard case .open = state else { return }
        message.setDestination(destination)
        message.expectNoReply()
        connection.send(message)
    }
}

package import KeychaindDBus

/// The connection to the bus and its provider, on the event loop.
///
/// Calls go to the provider's unique name, and signals are accepted only from it: sessions, prompts and signals belong
/// to one provider and mean nothing to its successor.
@BusActor
package final class ProviderLink {
    /// The well-known name of providers (spec #1).
    package nonisolated static let providerName = "org.freedesktop.secrets"

    private enum State {
        case open
        case closed
    }

    package let connection: Connection
    let configuration: SecretClient.Configuration

    /// Nil if it is unknown or there is none.
    package private(set) var owner: String?

    enum Agreement {
        case none
        case opening(Task<Result<ProviderSession, SecretServiceError>, Never>)
        case open(ProviderSession)
    }

    var session = Agreement.none

    /// The unique name of a provider that was asked for `org.keychaind.Search1`, and whether it has it.
    var searchSupport: (owner: String, isSupported: Bool)?

    private var state = State.open
    private var ownerChanges = 0
    private var onOwnerLost: [UInt64: @BusActor (SecretServiceError) -> Void] = [:]
    private var watcherCount: UInt64 = 0
    let changes = ChangeReader()

    /// Follows the owner of the provider's name.
    package init(_ connection: Connection, _ configuration: SecretClient.Configuration) {
        self.connection = connection
        self.configuration = configuration
        connection.onDisconnect = { [weak self] in self?.end() }
        connection.subscribe(to: .ownerChanged(of: Self.providerName)) { [weak self] message in
            guard let (name, _, owner) = try? message.read(String.self, String.self, String.self) else { return }
            guard let self, name == Self.providerName else { return }
            // Also without a known owner: an earlier reply may name the one that has just left.
            ownerChanges += 1
            setOwner(owner.isEmpty ? nil : owner)
        }
    }

    package func close() {
        // Not flushed: an unresponsive bus would block the thread.
        connection.close(flushing: false)
        end()
    }

    var isConnected: Bool {
        if case .open = state { connection.isConnected } else { false }
    }

    private func end() {
        guard case .open = state else { return }
        state = .closed
        owner = nil
        if case .open = session { session = .none }
        failWatchers(.closed)
        changes.finish()
    }

    // MARK: The provider

    /// The unique name of the provider, which is started if it is not running.
    package func provider() async throws(SecretServiceError) -> String {
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
            throw SecretServiceError(.providerUnavailable, "no program on the bus owns the name \(Self.providerName)")
        }
        return owner
    }

    private func learnOwner() async throws(BusError) -> String? {
        let before = ownerChanges
        let found = try await connection.owner(of: Self.providerName)
        // A signal that arrived meanwhile is newer than the reply.
        if case .open = state, ownerChanges == before { setOwner(found) }
        return owner
    }

    private func setOwner(_ newOwner: String?) {
        guard newOwner != owner else { return }
        let hadOwner = owner != nil
        owner = newOwner
        if case .open = session { session = .none }
        if hadOwner { failWatchers(.providerGone) }
        changes.follow(newOwner, on: connection)
    }

    private func checkOpen() throws(SecretServiceError) {
        guard case .open = state else { throw .closed }
    }

    // MARK: Watching the provider

    /// Calls the handler once when the provider or the bus goes.
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

    /// Calls the provider and waits for the reply.
    ///
    /// - Parameters:
    ///   - expected: the unique name of the intended provider; nil for any.
    ///   - timeout: the time limit; nil for the default.
    func call(
        _ message: Message,
        to expected: String? = nil,
        timeout: Duration? = nil
    ) async throws(SecretServiceError) -> Message {
        let owner = try await provider()
        guard expected == nil || expected == owner else {
            throw SecretServiceError(.noSession, "the session belongs to an earlier provider")
        }
        message.setDestination(owner)
        let start = ContinuousClock.now
        let timeout = timeout ?? configuration.callTimeout
        do throws(BusError) {
            return try await connection.call(message, timeout: timeout)
        } catch {
            // The bus also answers "no reply", but at once, when the callee leaves.
            if error.name == .noReply, ContinuousClock.now - start < timeout { throw .providerGone }
            throw SecretServiceError(answered: error)
        }
    }

    func send(_ message: Message, to destination: String) {
        guard case .open = state else { return }
        message.setDestination(destination)
        message.expectNoReply()
        connection.send(message)
    }
}

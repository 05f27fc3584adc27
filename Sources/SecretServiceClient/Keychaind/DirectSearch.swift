import KeychaindDBus
import KeychaindGcrypt
import Synchronization

/// Searches of keychaind on the calling thread, over a connection of their own.
///
/// To pass a search to the event loop's thread and back takes longer than keychaind's answer. Grants belong to the
/// client's other connection, so items that need one are locked here, and the caller searches again there.
final class DirectSearch: Sendable {
    private struct Link {
        let connection: BlockingConnection
        let session: ProviderSession
    }

    private struct State {
        var link: Link?
        /// The searches on the event loop after which a connection is worth its cost, which is that of several.
        var patience = 2
    }

    private let state = Mutex(State())

    /// Searches like ``SecretClient/searchAndRead(_:limit:withSecrets:)`` for one item; nil if the caller should search
    /// on the event loop.
    ///
    /// One thread at a time; others get nil.
    func records(
        _ queries: [[String: String]],
        described: Int,
        withSecret: Bool,
        for client: SecretClient
    ) throws(SecretServiceError) -> [SecretItemRecord]? {
        let records = try state.withLockIfAvailable { (state) throws(SecretServiceError) -> [SecretItemRecord]? in
            guard let link = DirectSearch.link(&state, for: client) else { return nil }
            do throws(SecretServiceError) {
                return try DirectSearch.search(queries, described, withSecret, link, client)
            } catch {
                // Another provider, or the same after a restart; the event loop knows or learns it.
                state.link = nil
                state.patience = client.link.answeredSearches.load(ordering: .relaxed) + 2 * state.patience
                if error.code == .timedOut { throw error }
                return nil
            }
        }
        return records ?? nil
    }

    private static func link(_ state: inout State, for client: SecretClient) -> Link? {
        if let link = state.link { return link }
        guard client.link.answeredSearches.load(ordering: .relaxed) >= state.patience else { return nil }
        state.link = try? open(client.configuration)
        if state.link == nil { state.patience = .max }
        return state.link
    }

    private static func search(
        _ queries: [[String: String]],
        _ described: Int,
        _ withSecret: Bool,
        _ link: Link,
        _ client: SecretClient
    ) throws(SecretServiceError) -> [SecretItemRecord] {
        let session = withSecret ? link.session : nil
        let message = SecretClient.searchMessage(queries, session?.path ?? .root, limit: 1, described: described)
        let reply = try call(message, on: link.connection, within: client.configuration.callTimeout)
        defer { reply.wipeByteArrays() }
        // The bus knows who owns the provider's name now.
        guard reply.sender == link.session.owner else { throw .providerGone }
        return try client.readRecords(reply, session)
    }

    private static func open(_ configuration: SecretClient.Configuration) throws(SecretServiceError) -> Link? {
        guard configuration.encryption != .none else { return nil }
        let connection: BlockingConnection
        let address = try configuration.bus.address()
        do throws(BusError) {
            connection = try BlockingConnection(address)
        } catch {
            throw SecretServiceError(.busUnavailable, error.message)
        }
        let keys = try ProviderLink.makeKeys()
        let message = ProviderLink.openSessionMessage(Protocol.diffieHellman, .bytes(ByteArray(keys.publicKey)))
        let reply = try call(message, on: connection, within: configuration.callTimeout)
        let opened = try ProviderLink.openedSession(reply)
        let session = try ProviderLink.encryptedSession(of: reply.sender, keys, opened).session
        return Link(connection: connection, session: session)
    }

    private static func call(
        _ message: Message,
        on connection: BlockingConnection,
        within timeout: Duration
    ) throws(SecretServiceError) -> Message {
        message.forbidActivation()
        let start = ContinuousClock.now
        do throws(BusError) {
            return try connection.call(message, timeout: timeout)
        } catch {
            // The bus also answers "no reply", but at once, when the callee leaves.
            if error.name == .noReply, ContinuousClock.now - start < timeout { throw .providerGone }
            throw SecretServiceError(answered: error)
        }
    }
}

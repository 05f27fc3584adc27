import DBus
import Glibc
import Synchronization

/// A context of keychaind's: a person's authentication, and what it may be used for.
///
/// It belongs to the client's connection and to one provider, and ends with them or with this object.
package final class AuthenticationContext: Sendable {
    /// The connection that it belongs to.
    package let client: SecretClient

    private let path: ObjectPath
    private let owner: String
    /// What the provider was told last.
    private let applied = Mutex(Settings())

    init(_ client: SecretClient, _ path: ObjectPath, owner: String) {
        self.client = client
        self.path = path
        self.owner = owner
    }

    deinit {
        client.sendLater(Protocol.call(path, Protocol.context, "Invalidate"), to: owner)
    }

    /// Whether the provider that it belongs to is still there.
    package func isAlive() async -> Bool {
        let owner = owner
        do throws(SecretServiceError) {
            return try await client.onLink { (link) throws(SecretServiceError) in link.owner == owner }
        } catch {
            return false
        }
    }

    // MARK: Settings

    /// Tells the provider how the context is to be from here on.
    package func apply(_ settings: Settings) async throws(SecretServiceError) {
        for (name, value) in settings.values(changedFrom: applied.withLock { $0 }) {
            let message = Protocol.call(path, StandardInterface.properties, "Set")
            message.append(Protocol.context, name, value)
            _ = try await client.call(message, to: owner)
        }
        applied.withLock { $0 = settings }
    }

    // MARK: Evaluating

    /// Has a person prove a policy, and waits for it.
    ///
    /// It is cancelled when the task is, or the time up. What it ends with, if not well, is in the error's `errorName`.
    ///
    /// - Parameter policy: a name of Apple's, or an expression of access control.
    package func evaluate(_ policy: String, reason: String, timeout: Duration) async throws(SecretServiceError) {
        try ArgumentCheck.check([policy, reason])
        let message = Protocol.call(path, Protocol.context, "EvaluatePolicy")
        message.append(policy, reason)
        let owner = owner
        do throws(SecretServiceError) {
            _ = try await client.onLink { (link) throws(SecretServiceError) in
                try await link.call(message, to: owner, timeout: timeout)
            }
        } catch {
            if error == .cancelled || error.code == .timedOut {
                client.sendLater(Protocol.call(path, Protocol.context, "Cancel"), to: owner)
            }
            throw error
        }
    }

    /// Ends the context, and an evaluation that is under way.
    package func invalidate() {
        client.sendLater(Protocol.call(path, Protocol.context, "Invalidate"), to: owner)
    }

    // MARK: Unlocking

    /// What a person can be asked to allow of items, beside their use: one operation on each.
    package enum Action: String, Sendable {
        /// To change what is in them.
        case change

        /// To change what is in them, and who may use them.
        case protect

        case delete
    }

    /// Unlocks items with what was proved in this context, and asks for the rest if that is allowed.
    ///
    /// Throws what the authentication has ended with if none could be unlocked because of it.
    ///
    /// - Returns: those that are unlocked now.
    package func unlock(
        _ items: [SecretItem],
        prompting: SecretPrompting
    ) async throws(SecretServiceError) -> [SecretItem] {
        let message = Protocol.call(path, Protocol.context, "Unlock")
        message.append(items.map(\.objectPath))
        return try await complete(message, items, prompting)
    }

    /// Has a person asked for one operation on items, which the provider then takes from this connection, once and soon.
    ///
    /// Throws what the authentication has ended with if none was allowed because of it.
    ///
    /// - Returns: those for which it is allowed, and those that need no permission.
    package func authorize(
        _ action: Action,
        _ items: [SecretItem],
        prompting: SecretPrompting
    ) async throws(SecretServiceError) -> [SecretItem] {
        let message = Protocol.call(path, Protocol.context, "Authorize")
        message.append(action.rawValue, items.map(\.objectPath))
        return try await complete(message, items, prompting)
    }

    private func complete(
        _ message: Message,
        _ items: [SecretItem],
        _ prompting: SecretPrompting
    ) async throws(SecretServiceError) -> [SecretItem] {
        let (atOnce, prompt) = try await client.call(message, to: owner).reading([ObjectPath].self, ObjectPath.self)
        var done = Set(atOnce.map(\.rawValue))
        if prompt != .root {
            do throws(SecretServiceError) {
                done.formUnion(try await client.complete(prompt, of: owner, prompting).paths().map(\.rawValue))
            } catch  where error.code == .interactionNotAllowed && !done.isEmpty {
            } catch  where error.code == .dismissed {
                let failure = try await failure()
                if done.isEmpty { throw failure }
            }
        }
        return items.filter { done.contains($0.path) }
    }

    /// What the last prompt ended with.
    private func failure() async throws(SecretServiceError) -> SecretServiceError {
        let name: String = try await client.property("Failure", of: path, Protocol.context)
        let reason = "the authentication came to nothing"
        return SecretServiceError(.dismissed, reason, errorName: name.isEmpty ? nil : name)
    }
}

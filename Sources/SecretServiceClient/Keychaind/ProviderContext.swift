import Glibc
import KeychaindDBus
import Synchronization

/// An authentication context of keychaind; ends with the client's connection, the provider or this object.
package final class ProviderContext: Sendable {
    package let client: SecretClient

    let path: ObjectPath
    private let owner: String
    /// The settings that the provider has.
    private let applied = Mutex(Settings())

    init(_ client: SecretClient, _ path: ObjectPath, owner: String) {
        self.client = client
        self.path = path
        self.owner = owner
    }

    deinit {
        client.sendLater(Protocol.call(path, Protocol.context, "Invalidate"), to: owner)
    }

    package func isAlive() async -> Bool {
        let owner = owner
        do throws(SecretServiceError) {
            return try await client.onLink { (link) throws(SecretServiceError) in link.owner == owner }
        } catch {
            return false
        }
    }

    // MARK: Settings

    package func apply(_ settings: Settings) async throws(SecretServiceError) {
        for (name, value) in settings.values(changedFrom: applied.withLock { $0 }) {
            let message = Protocol.call(path, StandardInterface.properties, "Set", Protocol.context, name, value)
            _ = try await client.call(message, to: owner)
        }
        applied.withLock { $0 = settings }
    }

    /// Supplies the application password of items; empty for none.
    package func setCredential(_ password: borrowing Secret) async throws(SecretServiceError) {
        let session = try await client.session()
        let message = Protocol.call(path, Protocol.context, "SetCredential")
        try session.append(password, to: message)
        _ = try await client.callWithSecret(message, to: owner)
    }

    // MARK: Evaluating

    /// Asks a person to authenticate for a policy name or an access control expression.
    ///
    /// Cancelled with the task or at the time limit; the `errorName` of the error is the result of the authentication.
    package func evaluate(_ policy: String, reason: String, timeout: Duration) async throws(SecretServiceError) {
        try ArgumentCheck.check([policy, reason])
        let message = Protocol.call(path, Protocol.context, "EvaluatePolicy", policy, reason)
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

    package func invalidate() {
        client.sendLater(Protocol.call(path, Protocol.context, "Invalidate"), to: owner)
    }

    // MARK: Unlocking

    /// An operation on an item, beside its use, for which a person can be asked.
    package enum Action: String, Sendable {
        case change

        case protect

        case delete
    }

    /// Unlocks items with the authentication of this context, asks for the rest if that is allowed, and returns the
    /// unlocked.
    ///
    /// Throws the result of the authentication if it unlocked none.
    package func unlock(
        _ items: [SecretItem],
        prompting: SecretPrompting
    ) async throws(SecretServiceError) -> [SecretItem] {
        let message = Protocol.call(path, Protocol.context, "Unlock", items.map(\.objectPath))
        let unlocked = try await complete(message, prompting)
        return items.filter { unlocked.contains($0.path) }
    }

    /// Unlocks a collection; throws the result of the authentication if it stays locked.
    func unlock(_ collection: SecretCollection, prompting: SecretPrompting) async throws(SecretServiceError) {
        let message = Protocol.call(path, Protocol.context, "Unlock", [collection.objectPath])
        guard try await complete(message, prompting) == [collection.path] else {
            throw SecretServiceError(.locked, "the provider did not unlock the collection")
        }
    }

    /// Asks a person to allow one operation on items, which this connection may then perform once, within a short time.
    ///
    /// Returns the items for which it is allowed or needs no permission; throws the authentication's result if there
    /// are none.
    package func authorize(
        _ action: Action,
        _ items: [SecretItem],
        prompting: SecretPrompting
    ) async throws(SecretServiceError) -> [SecretItem] {
        let message = Protocol.call(path, Protocol.context, "Authorize", action.rawValue, items.map(\.objectPath))
        let allowed = try await complete(message, prompting)
        return items.filter { allowed.contains($0.path) }
    }

    /// Returns the paths of the objects for which the call was successful.
    private func complete(
        _ message: Message,
        _ prompting: SecretPrompting
    ) async throws(SecretServiceError) -> Set<String> {
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
        return done
    }

    private func failure() async throws(SecretServiceError) -> SecretServiceError {
        let name: String = try await client.property("Failure", of: path, Protocol.context)
        guard !name.isEmpty else { return .dismissed }
        return SecretServiceError(.dismissed, "the authentication failed", errorName: name)
    }
}

extension ProviderContext {
    package struct Settings: Hashable, Sendable {
        /// In bytes; the provider has the same limit.
        private static let reasonLimit = 1000
        private static let titleLimit = 100

        package var reason = ""

        /// Empty for the default.
        package var cancelTitle = ""

        /// Nil for the default, empty for no button.
        package var fallbackTitle: String?

        /// How long an authentication is reused within the context; zero for one use.
        package var reuse = Duration.seconds(10)

        /// The age up to which an authentication in another context serves in this one; zero for none.
        package var acceptedAge = Duration.zero

        package var isInteractionAllowed = true

        package init() {}

        func values(changedFrom other: Settings) -> [(name: String, value: Variant)] {
            let (own, others) = (properties, other.properties)
            return own.indices.filter { own[$0].value != others[$0].value }.map { own[$0] }
        }

        private var properties: [(name: String, value: Variant)] {
            [
                ("Reason", .string(Settings.cut(reason, to: Settings.reasonLimit))),
                ("CancelTitle", .string(Settings.cut(cancelTitle, to: Settings.titleLimit))),
                ("FallbackTitle", .string(Settings.cut(fallbackTitle ?? "", to: Settings.titleLimit))),
                ("FallbackHidden", .boolean(fallbackTitle?.isEmpty == true)),
                ("ReuseDuration", .uint32(Settings.milliseconds(reuse))),
                ("AcceptedAge", .uint32(Settings.milliseconds(acceptedAge))),
                ("InteractionNotAllowed", .boolean(!isInteractionAllowed)),
            ]
        }

        /// Limited to five minutes, the provider's maximum.
        private static func milliseconds(_ duration: Duration) -> UInt32 {
            UInt32(clamping: Int64(max(.zero, min(duration, .seconds(300))) / .milliseconds(1)))
        }

        /// Removes NUL characters and truncates to the provider's limit.
        package static func cut(_ text: String, to limit: Int = reasonLimit) -> String {
            var cut = ""
            var count = 0
            for character in text where !character.utf8.contains(0) {
                count += character.utf8.count
                guard count <= limit else { break }
                cut.append(character)
            }
            return cut
        }
    }
}

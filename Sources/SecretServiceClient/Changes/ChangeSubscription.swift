import DBus

/// Holds a place among those who hear of changes; gives it up when it goes.
final class ChangeSubscription: Sendable {
    let buffer = ChangeBuffer()
    private let client: SecretClient

    init(_ client: SecretClient) {
        self.client = client
    }

    deinit {
        buffer.finish()
    }
}

extension SecretClient {
    /// Begins to hear of changes; none that the provider makes after this is missed.
    ///
    /// The sequence holds the client, which stays connected for as long as the sequence is there.
    public func changes() async throws(SecretServiceError) -> SecretChanges {
        let subscription = ChangeSubscription(self)
        let buffer = subscription.buffer
        try await onLink { [weak self] (link) throws(SecretServiceError) in
            _ = try await link.provider()
            link.changes.add(buffer, owner: link.owner, on: link.connection) { [weak self] in self }
        }
        return SecretChanges(subscription: subscription)
    }
}

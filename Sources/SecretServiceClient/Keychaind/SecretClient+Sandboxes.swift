import KeychaindDBus

/// A sandboxed program that uses keychaind.
package struct StoredSandbox: Hashable, Sendable {
    /// Such as `flatpak:org.example.Mail`.
    package let identity: String
    /// `limited`, `unconfirmed` or `open`.
    package let state: String
    /// In microseconds since 1970; 0 for never.
    package let lastCall: UInt64
    package let itemCount: UInt32

    fileprivate init(from reader: inout Reader) throws(BusError) {
        identity = try String(from: &reader)
        state = try String(from: &reader)
        lastCall = try UInt64(from: &reader)
        itemCount = try UInt32(from: &reader)
    }
}

/// `org.keychaind.Sandboxes1`, an interface of keychaind alone.
extension SecretClient {
    /// The sandboxed programs that have called the service, by identity.
    package func sandboxes() async throws(SecretServiceError) -> [StoredSandbox] {
        let reply = try await call(ProviderInterface.sandboxes.call("List"))
        return try reply.readingStructures { (reader) throws(BusError) in try StoredSandbox(from: &reader) }
    }

    /// The items that a sandbox has stored; for an unconfirmed one also those that it has read.
    package func items(ofSandbox identity: String) async throws(SecretServiceError) -> [SecretItem] {
        try ArgumentCheck.check(identity)
        let message = ProviderInterface.sandboxes.call("Items", identity)
        return try await call(message).reading([ObjectPath].self).map { SecretItem(self, $0) }
    }

    /// Limits a sandbox to its own items and these, after a person's confirmation.
    package func confirmSandbox(
        _ identity: String,
        items: [SecretItem],
        prompting: SecretPrompting = .shown
    ) async throws(SecretServiceError) {
        try ArgumentCheck.check(identity)
        _ = try await callWithPrompt(
            ProviderInterface.sandboxes.call("Confirm", identity, items.map(\.objectPath)),
            prompting
        )
    }
}

import KeychaindDBus

/// `org.keychaind.KeySlots1`, an interface of keychaind alone.
extension SecretCollection {
    /// Adds a recovery key, which a dialog shows once; a person is asked for the password.
    package func addRecoveryKey(label: String) async throws(SecretServiceError) {
        try ArgumentCheck.check(label)
        let message = Protocol.call(objectPath, "org.keychaind.KeySlots1", "AddRecoveryKey")
        message.append(label)
        _ = try await client.callWithPrompt(message, .shown) { (reply) throws(SecretServiceError) in
            ((), prompt: try reply.reading(ObjectPath.self))
        }
    }
}

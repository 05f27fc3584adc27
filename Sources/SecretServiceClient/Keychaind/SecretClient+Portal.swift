import KeychaindDBus

/// `org.keychaind.Portal1`, an interface of keychaind alone.
extension SecretClient {
    /// Hands over the secret that another provider's Secret portal gave to an application.
    ///
    /// Throws ``SecretServiceError/Code/alreadyExists`` if the application has another one of keychaind, and
    /// ``SecretServiceError/Code/noSuchObject`` if the provider does not have the interface.
    ///
    /// - Returns: false if keychaind has the same one already.
    package func importPortalSecret(
        _ secret: borrowing Secret,
        for application: String
    ) async throws(SecretServiceError) -> Bool {
        try ArgumentCheck.check([application, secret.contentType])
        let session = try await session()
        let message = Protocol.call(
            ObjectPath(unchecked: "/org/keychaind/Portal"),
            "org.keychaind.Portal1",
            "Import"
        )
        message.append(application)
        try session.append(secret, to: message)
        return try await callWithSecret(message, to: session.owner).reading(Bool.self)
    }
}

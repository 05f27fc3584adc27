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
        let message = ProviderInterface.portal.call("Import", application)
        try session.append(secret, to: message)
        return try await callWithSecret(message, to: session.owner).reading(Bool.self)
    }

    /// Gives an application another portal secret in place of its present one, which the provider keeps, after a
    /// person's authentication.
    ///
    /// Throws ``SecretServiceError/Code/noSuchObject`` if the application has none.
    ///
    /// - Returns: false if the application has this one already.
    package func replacePortalSecret(
        with secret: borrowing Secret,
        for application: String,
        prompting: SecretPrompting = .shown
    ) async throws(SecretServiceError) -> Bool {
        try ArgumentCheck.check([application, secret.contentType])
        let session = try await session()
        let message = ProviderInterface.portal.call("Replace", application)
        try session.append(secret, to: message)
        let prompt = try await callWithSecret(message, to: session.owner).reading(ObjectPath.self)
        guard prompt != .root else { return false }
        _ = try await complete(prompt, of: session.owner, prompting)
        return true
    }

    /// Gives an application the portal secret that was replaced last, after a person's authentication.
    ///
    /// Throws ``SecretServiceError/Code/noSuchObject`` if none was.
    package func undoPortalReplacement(
        for application: String,
        prompting: SecretPrompting = .shown
    ) async throws(SecretServiceError) {
        try ArgumentCheck.check(application)
        _ = try await callWithPrompt(ProviderInterface.portal.call("Undo", application), prompting)
    }
}

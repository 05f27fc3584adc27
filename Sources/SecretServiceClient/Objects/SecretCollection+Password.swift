import KeychaindDBus
package import KeychaindGcrypt

extension SecretClient {
    /// Creates a collection with a password.
    ///
    /// keychaind's `login`, as long as it has no password, takes the password of a new collection of that name.
    package func createCollection(
        label: String,
        password: borrowing SecureBytes
    ) async throws(SecretServiceError) -> SecretCollection {
        try ArgumentCheck.check([label])
        let session = try await session()
        let message = ProviderInterface.passwords.call("CreateWithMasterPassword", Protocol.collection(label))
        try session.append(try Secret(copying: password), to: message)
        return SecretCollection(self, try await callWithSecret(message, to: session.owner).reading(ObjectPath.self))
    }
}

extension SecretCollection {
    /// Unlocks the collection with a password; false if it is the wrong one.
    ///
    /// Throws ``SecretServiceError/Code/noSuchObject`` if the collection has no password yet, or the provider does not
    /// take passwords without a prompt.
    package func unlock(with password: borrowing SecureBytes) async throws(SecretServiceError) -> Bool {
        let session = try await client.session()
        let message = ProviderInterface.passwords.call("UnlockWithMasterPassword", objectPath)
        try session.append(try Secret(copying: password), to: message)
        do throws(SecretServiceError) {
            _ = try await client.callWithSecret(message, to: session.owner)
            return true
        } catch  where error.errorName == "org.gnome.keyring.Error.Denied" {
            return false
        }
    }
}

extension Secret {
    fileprivate init(copying password: borrowing SecureBytes) throws(SecretServiceError) {
        self = try password.withUnsafeBytes { (bytes) throws(SecretServiceError) in
            try Secret(copying: bytes, contentType: Secret.text)
        }
    }
}

package import Gcrypt

extension Collection {
    /// The size of an application secret in bytes.
    package static let applicationSecretSize = SecretsKey.applicationSecretSize

    /// Derives the secret of an application from the collection's key; the same application always gets the same
    /// secret.
    ///
    /// It is stored in no item. Throws `locked`, and `notSupported` for the collection in memory.
    package func applicationSecret(for application: String) throws(VaultError) -> SecureBytes {
        guard !isEphemeral else {
            throw VaultError(.notSupported, reason: "what lives in memory has no secrets that last")
        }
        guard case .unlocked(let key) = phase else {
            throw VaultError(.locked, reason: "the collection is locked")
        }
        return try cipher { () throws(GcryptError) in try key.applicationSecret(for: application) }
    }
}

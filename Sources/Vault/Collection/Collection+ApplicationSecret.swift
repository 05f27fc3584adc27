package import Gcrypt

extension Collection {
    /// The size of an application's secret in bytes.
    package static let applicationSecretSize = SecretsKey.applicationSecretSize

    /// The secret of an application that has one of its own here: always the same, and no other's.
    ///
    /// It is in no item, so that nobody finds it. Throws `locked`, and `notSupported` for the collection in memory.
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

package import KeychainModel

/// The result of a password change in several collections.
package struct PasswordChange: Sendable {
    /// The changed collections.
    package internal(set) var changed: [CollectionName] = []

    /// The unchanged collections that the old password opens or may open, with the reasons.
    package internal(set) var failed: [(name: CollectionName, error: VaultError)] = []
}

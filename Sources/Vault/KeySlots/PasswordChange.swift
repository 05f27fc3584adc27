package import KeychainModel

/// What came of changing one password wherever it is used.
package struct PasswordChange: Sendable {
    /// The collections that have the new password now.
    package internal(set) var changed: [CollectionName] = []

    /// Those that the old password opens, or may open, and why they keep it.
    package internal(set) var failed: [(name: CollectionName, error: VaultError)] = []
}

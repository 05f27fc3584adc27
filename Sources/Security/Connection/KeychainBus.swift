package import SecretServiceClient

/// The bus on which the keychain is looked for.
package enum KeychainBus {
    /// The user's session bus, unless a test has one of its own.
    @TaskLocal package static var current = SecretBus.session
}

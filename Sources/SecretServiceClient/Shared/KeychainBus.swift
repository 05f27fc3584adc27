/// The bus on which the keychain is looked for, and how long a person may take.
package enum KeychainBus {
    /// The user's session bus, unless a test has one of its own.
    @TaskLocal package static var current = SecretBus.session

    /// How long an authentication or a prompt may go on.
    @TaskLocal package static var promptTimeout = Duration.seconds(300)
}

/// Whether an authentication is possible now.
package struct AuthenticationAvailability: Hashable, Sendable {
    /// The name of the D-Bus error that it would end with; nil if it is possible.
    package let obstacle: String?

    /// Whether there is a fingerprint reader.
    package let hasFingerprintReader: Bool
}

package import KeychaindGcrypt

/// A sealer that binds keys to this machine, such as a TPM.
///
/// All methods except ``check()`` block and are called on a thread of the vault.
package protocol HostSealer: Sendable {
    /// Throws `hostNotAvailable` if it is already known that there is no sealer; never waits.
    func check() throws(VaultError)

    /// Seals a key of 32 bytes; throws `hostNotAvailable` with a reason for a person.
    func seal(_ key: borrowing SecureBytes) throws(VaultError) -> [UInt8]

    /// Unseals a key into locked memory; throws `hostNotAvailable` without a sealer, or with another or a reset one.
    func unseal(_ sealed: [UInt8]) throws(VaultError) -> SecureBytes
}

package struct NoHost: HostSealer {
    private let reason: String

    package init(reason: String = "there is no TPM") {
        self.reason = reason
    }

    package func check() throws(VaultError) {
        throw VaultError(.hostNotAvailable, reason: reason)
    }

    package func seal(_ key: borrowing SecureBytes) throws(VaultError) -> [UInt8] {
        throw VaultError(.hostNotAvailable, reason: reason)
    }

    package func unseal(_ sealed: [UInt8]) throws(VaultError) -> SecureBytes {
        throw VaultError(.hostNotAvailable, reason: reason)
    }
}

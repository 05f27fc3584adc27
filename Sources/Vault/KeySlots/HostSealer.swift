package import Gcrypt

/// A sealer that binds keys to this machine, such as a TPM.
///
/// All methods except ``check()`` block and are called on a thread of the vault.
package protocol HostSealer: Sendable {
    /// Throws `hostNotAvailable` if it is already known that there is no sealer. Does not wait.
    func check() throws(VaultError)

    /// Seals a key of 32 bytes to this machine.
    ///
    /// Throws `hostNotAvailable`, with a reason for a person.
    func seal(_ key: borrowing SecureBytes) throws(VaultError) -> [UInt8]

    /// Unseals a key into locked memory.
    ///
    /// Throws `hostNotAvailable` when there is no sealer, or it is another or was reset.
    func unseal(_ sealed: [UInt8]) throws(VaultError) -> SecureBytes
}

/// The sealer of a machine that cannot keep keys.
package struct NoHost: HostSealer {
    private let reason: String

    /// Creates a sealer that always fails.
    ///
    /// - Parameter reason: the reason, for a person.
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

package import Gcrypt

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

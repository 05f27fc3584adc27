package import Gcrypt

/// A machine that keeps no keys.
package struct NoHost: HostSealer {
    private let reason: String

    /// - Parameter reason: why it does not, in words for a person.
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

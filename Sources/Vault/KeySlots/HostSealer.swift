package import Gcrypt

/// What ties a key to this machine: a TPM, say.
///
/// Its methods but ``check()`` block, and are called on a thread of the vault's own.
package protocol HostSealer: Sendable {
    /// Throws `hostNotAvailable` if it is known already that there is no such machine; it does not wait for one.
    func check() throws(VaultError)

    /// Seals a key of 32 bytes so that only this machine gives it back.
    ///
    /// Throws `hostNotAvailable`, with the reason in words for a person.
    func seal(_ key: borrowing SecureBytes) throws(VaultError) -> [UInt8]

    /// Gives a sealed key back, in locked memory.
    ///
    /// Throws `hostNotAvailable` when there is no such machine, or it is another, or was reset.
    func unseal(_ sealed: [UInt8]) throws(VaultError) -> SecureBytes
}

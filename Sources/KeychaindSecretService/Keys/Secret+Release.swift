import KeychaindDBus
import KeychaindModel
import KeychaindVault

extension Secret {
    /// Whether programs may have the secret; false for a key that is only used.
    var isReleasable: Bool { !ReservedContentType.isReserved(contentType) }

    /// Throws `AccessDenied` for a key that is only used.
    func checkReleasable() throws(BusError) {
        guard isReleasable else {
            throw BusError(.accessDenied, "the key does not leave the keychain; use it by \(InterfaceName.key)")
        }
    }
}

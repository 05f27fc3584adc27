import KeychaindDBus
import KeychaindModel
import KeychaindVault

extension Secret {
    /// Whether programs may have the secret; false for a key that is only used, and for a portal secret.
    var isReleasable: Bool { !ReservedContentType.isReserved(contentType) }

    /// Throws `AccessDenied` for a key that is only used, and for a portal secret.
    func checkReleasable() throws(BusError) {
        guard contentType != ReservedContentType.portalSecret.rawValue else {
            throw BusError(.accessDenied, "the secret is for the desktop portal only")
        }
        guard isReleasable else {
            throw BusError(.accessDenied, "the key does not leave the keychain; use it by \(InterfaceName.key)")
        }
    }
}

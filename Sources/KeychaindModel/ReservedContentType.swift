/// A content type with a meaning to the keychain, which uses the secret but never releases it.
package enum ReservedContentType: String, CaseIterable, Hashable, Sendable {
    /// A private key in Apple's external representation: PKCS #1 for RSA, ANSI X9.63 for elliptic curves.
    case privateKey = "application/x-keychaind-private-key"

    /// A key that only a TPM can use.
    case tpmKey = "application/x-keychaind-tpm-key"

    /// An application's secret from another provider of the Secret portal.
    case portalSecret = "application/x-keychaind-portal-secret"

    private static let prefix = "application/x-keychaind-"

    /// Whether a secret with a content type is never released; true also for types of later versions.
    package static func isReserved(_ contentType: String) -> Bool {
        contentType.utf8.starts(with: prefix.utf8)
    }
}

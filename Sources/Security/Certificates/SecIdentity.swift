/// A certificate with its private key.
public final class SecIdentity: Hashable, Sendable {
    let certificate: SecCertificate
    let key: SecKey

    init(_ certificate: SecCertificate, _ key: SecKey) {
        self.certificate = certificate
        self.key = key
    }

    /// Compares certificate and key.
    public static func == (left: SecIdentity, right: SecIdentity) -> Bool {
        left.certificate == right.certificate && left.key == right.key
    }

    /// Hashes the certificate.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(certificate)
    }
}

/// Copies the certificate of an identity.
///
/// - Parameters:
///   - identityRef: the identity.
///   - certificateRef: receives the certificate.
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecIdentityCopyCertificate(
    _ identityRef: SecIdentity,
    _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    certificateRef.pointee = identityRef.certificate
    return errSecSuccess
}

/// Copies the private key of an identity.
///
/// - Parameters:
///   - identityRef: the identity.
///   - privateKeyRef: receives the key.
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecIdentityCopyPrivateKey(
    _ identityRef: SecIdentity,
    _ privateKeyRef: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
    privateKeyRef.pointee = identityRef.key
    return errSecSuccess
}

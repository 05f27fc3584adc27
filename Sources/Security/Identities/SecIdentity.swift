/// A certificate together with its private key.
public final class SecIdentity: Hashable, Sendable {
    let certificate: SecCertificate
    let key: SecKey

    init(_ certificate: SecCertificate, _ key: SecKey) {
        self.certificate = certificate
        self.key = key
    }

    /// Whether both have the same certificate and key.
    public static func == (left: SecIdentity, right: SecIdentity) -> Bool {
        left.certificate == right.certificate && left.key == right.key
    }

    /// Feeds the certificate.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(certificate)
    }
}

/// The certificate of an identity.
///
/// - Parameters:
///   - identityRef: the identity.
///   - certificateRef: takes it.
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecIdentityCopyCertificate(
    _ identityRef: SecIdentity,
    _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    certificateRef.pointee = identityRef.certificate
    return errSecSuccess
}

/// The private key of an identity.
///
/// - Parameters:
///   - identityRef: the identity.
///   - privateKeyRef: takes it.
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecIdentityCopyPrivateKey(
    _ identityRef: SecIdentity,
    _ privateKeyRef: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
    privateKeyRef.pointee = identityRef.key
    return errSecSuccess
}

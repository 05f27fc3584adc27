#if Keys
import Foundation
import KeychaindGcrypt

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

/// Finds the identity of a certificate: the private key of its public key in the keychain.
///
/// - Parameters:
///   - keychainOrArray: ignored: there is only one keychain.
///   - certificateRef: the certificate, which need not be in the keychain.
///   - identityRef: receives the identity.
/// - Returns: ``errSecSuccess``; ``errSecItemNotFound`` if the keychain does not have the key; or another code.
@discardableResult
public func SecIdentityCreateWithCertificate(
    _ keychainOrArray: CFTypeRef?,
    _ certificateRef: SecCertificate,
    _ identityRef: UnsafeMutablePointer<SecIdentity?>
) -> OSStatus {
    status { () throws(StatusError) in
        let publicKey = certificateRef.contents.publicKey
        let hash = try StatusError.translating { () throws(GcryptError) in try HashFunction.sha1.digest(of: publicKey) }
        let query: [CFString: Any] = [
            kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
            kSecAttrApplicationLabel: Data(hash), kSecReturnRef: true,
        ]
        var result: CFTypeRef?
        let found = SecItemCopyMatching(query as CFDictionary, &result)
        guard found == errSecSuccess else { throw StatusError(found, "the private key was not found") }
        // Programs may change the label of a key.
        guard let key = result as? SecKey, let ownPublicKey = SecKeyCopyPublicKey(key),
            SecKeyCopyExternalRepresentation(ownPublicKey, nil) as Data? == Data(publicKey)
        else { throw StatusError(errSecItemNotFound, "the private key is not that of the certificate") }
        identityRef.pointee = SecIdentity(certificateRef, key)
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
#endif

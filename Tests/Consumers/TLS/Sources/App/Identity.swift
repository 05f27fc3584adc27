import Foundation
import Security

/// A certificate of the keychain with its private key.
struct Identity {
    let certificate: Data
    let key: KeychainKey

    /// The identity with a label.
    init(label: String) throws {
        let query: [String: Any] = [
            kSecClass as String: kSecClassIdentity,
            kSecAttrLabel as String: label,
            kSecReturnRef as String: true,
        ]
        var found: CFTypeRef?
        try check(SecItemCopyMatching(query as CFDictionary, &found))
        let identity = found as! SecIdentity
        var certificate: SecCertificate?
        var key: SecKey?
        try check(SecIdentityCopyCertificate(identity, &certificate))
        try check(SecIdentityCopyPrivateKey(identity, &key))
        guard let certificate, let key else { throw CocoaError(.coderValueNotFound) }
        self.certificate = SecCertificateCopyData(certificate) as Data
        self.key = KeychainKey(key)
    }

    /// Stores a certificate beside its key.
    static func store(_ certificate: Data, label: String) throws {
        guard let certificate = SecCertificateCreateWithData(nil, certificate as CFData) else {
            throw CocoaError(.coderReadCorrupt)
        }
        let item: [String: Any] = [
            kSecClass as String: kSecClassCertificate,
            kSecAttrLabel as String: label,
            kSecValueRef as String: certificate,
        ]
        try check(SecItemAdd(item as CFDictionary, nil))
    }
}

private func check(_ status: OSStatus) throws {
    if status != errSecSuccess { throw NSError(domain: NSOSStatusErrorDomain, code: Int(status)) }
}

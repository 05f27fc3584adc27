#if Keys
import SwiftASN1

/// A public key in the form of certificates (RFC 5280), which PEM files have under the name "PUBLIC KEY".
enum SubjectPublicKeyInfo {
    private static let limit = 1 << 14

    /// The RSA key inside, in PKCS #1; nil if the bytes are not one in this form.
    static func rsaKey(_ der: [UInt8]) -> [UInt8]? {
        guard let parts = try? ASN1Node.parse(der, limit: limit).children(.sequence), parts.count == 2,
            let algorithm = try? parts[0].children(.sequence).first?.objectIdentifier(),
            algorithm == .AlgorithmIdentifier.rsaEncryption
        else { return nil }
        return try? parts[1].bitString()
    }
}
#endif

#if Keys
import KeychaindModel

/// The padding of the older functions for keys.
public struct SecPadding: OptionSet, Sendable {
    /// Apple's number.
    public let rawValue: UInt32

    /// A padding by Apple's number; no bits are none.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// PKCS #1 v1.5; for elliptic curves, a signature in DER.
    public static let PKCS1 = SecPadding(rawValue: 1)

    /// OAEP with SHA-1, for encryption.
    public static let OAEP = SecPadding(rawValue: 2)

    /// For elliptic curves: a signature of r and s, each of the block size.
    public static let sigRaw = SecPadding(rawValue: 0x4000)

    /// PKCS #1 v1.5 of a SHA-1 digest.
    public static let PKCS1SHA1 = SecPadding(rawValue: 0x8002)

    /// PKCS #1 v1.5 of a SHA-224 digest.
    public static let PKCS1SHA224 = SecPadding(rawValue: 0x8003)

    /// PKCS #1 v1.5 of a SHA-256 digest.
    public static let PKCS1SHA256 = SecPadding(rawValue: 0x8004)

    /// PKCS #1 v1.5 of a SHA-384 digest.
    public static let PKCS1SHA384 = SecPadding(rawValue: 0x8005)

    /// PKCS #1 v1.5 of a SHA-512 digest.
    public static let PKCS1SHA512 = SecPadding(rawValue: 0x8006)
}

extension SecKey {
    /// The algorithm of signatures with a padding, as on iOS; nil if there is none.
    func signatureAlgorithm(_ padding: SecPadding) -> SecKeyAlgorithm? {
        switch (type, padding) {
        case (.ec, .sigRaw): .ecdsaSignatureRFC4754
        // As in Apple's library, whatever the padding.
        case (.ec, _): .ecdsaSignatureDigestX962
        case (.rsa, []): .rsaSignatureRaw
        case (.rsa, .PKCS1): .rsaSignatureDigestPKCS1v15Raw
        case (.rsa, .PKCS1SHA1): .rsaSignatureDigestPKCS1v15SHA1
        case (.rsa, .PKCS1SHA224): .rsaSignatureDigestPKCS1v15SHA224
        case (.rsa, .PKCS1SHA256): .rsaSignatureDigestPKCS1v15SHA256
        case (.rsa, .PKCS1SHA384): .rsaSignatureDigestPKCS1v15SHA384
        case (.rsa, .PKCS1SHA512): .rsaSignatureDigestPKCS1v15SHA512
        default: nil
        }
    }

    /// The algorithm of encryption with a padding; nil if there is none.
    func encryptionAlgorithm(_ padding: SecPadding) -> SecKeyAlgorithm? {
        switch (type, padding) {
        case (.rsa, []): .rsaEncryptionRaw
        case (.rsa, .PKCS1): .rsaEncryptionPKCS1
        case (.rsa, .OAEP): .rsaEncryptionOAEPSHA1
        default: nil
        }
    }
}
#endif

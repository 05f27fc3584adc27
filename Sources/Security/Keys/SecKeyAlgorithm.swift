#if Keys
public import Foundation

/// An algorithm of a key's operation; its raw value is Apple's identifier.
///
/// *Message* algorithms hash their data, *digest* algorithms take a digest.
public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
    let name: String

    /// The identifier.
    public var rawValue: CFString { name as NSString }

    /// An algorithm by its identifier, which need not be known.
    public init(rawValue: CFString) {
        name = rawValue as String
    }

    /// An algorithm by its identifier, which need not be known.
    public init(_ rawValue: CFString) {
        self.init(rawValue: rawValue)
    }

    private init(_ name: String) {
        self.name = name
    }
}

// MARK: RSA signatures

extension SecKeyAlgorithm {
    /// RSA without padding, of at most the block size; only for building other schemes.
    public static let rsaSignatureRaw = SecKeyAlgorithm("algid:sign:RSA:raw")

    /// PKCS #1 v1.5 padding of the data, which should be an encoded `DigestInfo`.
    public static let rsaSignatureDigestPKCS1v15Raw = SecKeyAlgorithm("algid:sign:RSA:digest-PKCS1v15")

    /// PKCS #1 v1.5 of a SHA-1 digest.
    public static let rsaSignatureDigestPKCS1v15SHA1 = SecKeyAlgorithm("algid:sign:RSA:digest-PKCS1v15:SHA1")

    /// PKCS #1 v1.5 of a SHA-224 digest.
    public static let rsaSignatureDigestPKCS1v15SHA224 = SecKeyAlgorithm("algid:sign:RSA:digest-PKCS1v15:SHA224")

    /// PKCS #1 v1.5 of a SHA-256 digest.
    public static let rsaSignatureDigestPKCS1v15SHA256 = SecKeyAlgorithm("algid:sign:RSA:digest-PKCS1v15:SHA256")

    /// PKCS #1 v1.5 of a SHA-384 digest.
    public static let rsaSignatureDigestPKCS1v15SHA384 = SecKeyAlgorithm("algid:sign:RSA:digest-PKCS1v15:SHA384")

    /// PKCS #1 v1.5 of a SHA-512 digest.
    public static let rsaSignatureDigestPKCS1v15SHA512 = SecKeyAlgorithm("algid:sign:RSA:digest-PKCS1v15:SHA512")

    /// PKCS #1 v1.5 of a message by SHA-1.
    public static let rsaSignatureMessagePKCS1v15SHA1 = SecKeyAlgorithm("algid:sign:RSA:message-PKCS1v15:SHA1")

    /// PKCS #1 v1.5 of a message by SHA-224.
    public static let rsaSignatureMessagePKCS1v15SHA224 = SecKeyAlgorithm("algid:sign:RSA:message-PKCS1v15:SHA224")

    /// PKCS #1 v1.5 of a message by SHA-256.
    public static let rsaSignatureMessagePKCS1v15SHA256 = SecKeyAlgorithm("algid:sign:RSA:message-PKCS1v15:SHA256")

    /// PKCS #1 v1.5 of a message by SHA-384.
    public static let rsaSignatureMessagePKCS1v15SHA384 = SecKeyAlgorithm("algid:sign:RSA:message-PKCS1v15:SHA384")

    /// PKCS #1 v1.5 of a message by SHA-512.
    public static let rsaSignatureMessagePKCS1v15SHA512 = SecKeyAlgorithm("algid:sign:RSA:message-PKCS1v15:SHA512")

    /// PSS of a SHA-1 digest, with a salt of its size.
    public static let rsaSignatureDigestPSSSHA1 = SecKeyAlgorithm("algid:sign:RSA:digest-PSS:SHA1:SHA1:20")

    /// PSS of a SHA-224 digest, with a salt of its size.
    public static let rsaSignatureDigestPSSSHA224 = SecKeyAlgorithm("algid:sign:RSA:digest-PSS:SHA224:SHA224:24")

    /// PSS of a SHA-256 digest, with a salt of its size.
    public static let rsaSignatureDigestPSSSHA256 = SecKeyAlgorithm("algid:sign:RSA:digest-PSS:SHA256:SHA256:32")

    /// PSS of a SHA-384 digest, with a salt of its size.
    public static let rsaSignatureDigestPSSSHA384 = SecKeyAlgorithm("algid:sign:RSA:digest-PSS:SHA384:SHA384:48")

    /// PSS of a SHA-512 digest, with a salt of its size.
    public static let rsaSignatureDigestPSSSHA512 = SecKeyAlgorithm("algid:sign:RSA:digest-PSS:SHA512:SHA512:64")

    /// PSS of a message by SHA-1, with a salt of the digest's size.
    public static let rsaSignatureMessagePSSSHA1 = SecKeyAlgorithm("algid:sign:RSA:message-PSS:SHA1:SHA1:20")

    /// PSS of a message by SHA-224, with a salt of the digest's size.
    public static let rsaSignatureMessagePSSSHA224 = SecKeyAlgorithm("algid:sign:RSA:message-PSS:SHA224:SHA224:24")

    /// PSS of a message by SHA-256, with a salt of the digest's size.
    public static let rsaSignatureMessagePSSSHA256 = SecKeyAlgorithm("algid:sign:RSA:message-PSS:SHA256:SHA256:32")

    /// PSS of a message by SHA-384, with a salt of the digest's size.
    public static let rsaSignatureMessagePSSSHA384 = SecKeyAlgorithm("algid:sign:RSA:message-PSS:SHA384:SHA384:48")

    /// PSS of a message by SHA-512, with a salt of the digest's size.
    public static let rsaSignatureMessagePSSSHA512 = SecKeyAlgorithm("algid:sign:RSA:message-PSS:SHA512:SHA512:64")
}

// MARK: ECDSA signatures

extension SecKeyAlgorithm {
    /// ECDSA of a digest; the signature is r and s, each of the block size.
    public static let ecdsaSignatureRFC4754 = SecKeyAlgorithm("algid:sign:ECDSA:RFC4754")

    /// ECDSA of a digest; the signature is in DER.
    public static let ecdsaSignatureDigestX962 = SecKeyAlgorithm("algid:sign:ECDSA:digest-X962")

    /// ECDSA of a digest; the signature is r and s, each of the block size.
    public static let ecdsaSignatureDigestRFC4754 = SecKeyAlgorithm("algid:sign:ECDSA:digest-RFC4754")

    /// ECDSA of a SHA-1 digest; the signature is in DER.
    public static let ecdsaSignatureDigestX962SHA1 = SecKeyAlgorithm("algid:sign:ECDSA:digest-X962:SHA1")

    /// ECDSA of a SHA-224 digest; the signature is in DER.
    public static let ecdsaSignatureDigestX962SHA224 = SecKeyAlgorithm("algid:sign:ECDSA:digest-X962:SHA224")

    /// ECDSA of a SHA-256 digest; the signature is in DER.
    public static let ecdsaSignatureDigestX962SHA256 = SecKeyAlgorithm("algid:sign:ECDSA:digest-X962:SHA256")

    /// ECDSA of a SHA-384 digest; the signature is in DER.
    public static let ecdsaSignatureDigestX962SHA384 = SecKeyAlgorithm("algid:sign:ECDSA:digest-X962:SHA384")

    /// ECDSA of a SHA-512 digest; the signature is in DER.
    public static let ecdsaSignatureDigestX962SHA512 = SecKeyAlgorithm("algid:sign:ECDSA:digest-X962:SHA512")

    /// ECDSA of a message by SHA-1; the signature is in DER.
    public static let ecdsaSignatureMessageX962SHA1 = SecKeyAlgorithm("algid:sign:ECDSA:message-X962:SHA1")

    /// ECDSA of a message by SHA-224; the signature is in DER.
    public static let ecdsaSignatureMessageX962SHA224 = SecKeyAlgorithm("algid:sign:ECDSA:message-X962:SHA224")

    /// ECDSA of a message by SHA-256; the signature is in DER.
    public static let ecdsaSignatureMessageX962SHA256 = SecKeyAlgorithm("algid:sign:ECDSA:message-X962:SHA256")

    /// ECDSA of a message by SHA-384; the signature is in DER.
    public static let ecdsaSignatureMessageX962SHA384 = SecKeyAlgorithm("algid:sign:ECDSA:message-X962:SHA384")

    /// ECDSA of a message by SHA-512; the signature is in DER.
    public static let ecdsaSignatureMessageX962SHA512 = SecKeyAlgorithm("algid:sign:ECDSA:message-X962:SHA512")

    /// ECDSA of a SHA-1 digest; the signature is r and s.
    public static let ecdsaSignatureDigestRFC4754SHA1 = SecKeyAlgorithm("algid:sign:ECDSA:digest-RFC4754:SHA1")

    /// ECDSA of a SHA-224 digest; the signature is r and s.
    public static let ecdsaSignatureDigestRFC4754SHA224 = SecKeyAlgorithm("algid:sign:ECDSA:digest-RFC4754:SHA224")

    /// ECDSA of a SHA-256 digest; the signature is r and s.
    public static let ecdsaSignatureDigestRFC4754SHA256 = SecKeyAlgorithm("algid:sign:ECDSA:digest-RFC4754:SHA256")

    /// ECDSA of a SHA-384 digest; the signature is r and s.
    public static let ecdsaSignatureDigestRFC4754SHA384 = SecKeyAlgorithm("algid:sign:ECDSA:digest-RFC4754:SHA384")

    /// ECDSA of a SHA-512 digest; the signature is r and s.
    public static let ecdsaSignatureDigestRFC4754SHA512 = SecKeyAlgorithm("algid:sign:ECDSA:digest-RFC4754:SHA512")

    /// ECDSA of a message by SHA-1; the signature is r and s.
    public static let ecdsaSignatureMessageRFC4754SHA1 = SecKeyAlgorithm("algid:sign:ECDSA:message-RFC4754:SHA1")

    /// ECDSA of a message by SHA-224; the signature is r and s.
    public static let ecdsaSignatureMessageRFC4754SHA224 = SecKeyAlgorithm("algid:sign:ECDSA:message-RFC4754:SHA224")

    /// ECDSA of a message by SHA-256; the signature is r and s.
    public static let ecdsaSignatureMessageRFC4754SHA256 = SecKeyAlgorithm("algid:sign:ECDSA:message-RFC4754:SHA256")

    /// ECDSA of a message by SHA-384; the signature is r and s.
    public static let ecdsaSignatureMessageRFC4754SHA384 = SecKeyAlgorithm("algid:sign:ECDSA:message-RFC4754:SHA384")

    /// ECDSA of a message by SHA-512; the signature is r and s.
    public static let ecdsaSignatureMessageRFC4754SHA512 = SecKeyAlgorithm("algid:sign:ECDSA:message-RFC4754:SHA512")
}

// MARK: RSA encryption

extension SecKeyAlgorithm {
    /// RSA without padding, of at most the block size; only for building other schemes.
    public static let rsaEncryptionRaw = SecKeyAlgorithm("algid:encrypt:RSA:raw")

    /// PKCS #1 v1.5, of at most the block size less 11.
    ///
    /// Do not reveal to others whether a ciphertext could be decrypted: that lets them decrypt it.
    public static let rsaEncryptionPKCS1 = SecKeyAlgorithm("algid:encrypt:RSA:PKCS1")

    /// OAEP with SHA-1, of at most the block size less 2 and two digests.
    public static let rsaEncryptionOAEPSHA1 = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA1")

    /// OAEP with SHA-224, of at most the block size less 2 and two digests.
    public static let rsaEncryptionOAEPSHA224 = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA224")

    /// OAEP with SHA-256, of at most the block size less 2 and two digests.
    public static let rsaEncryptionOAEPSHA256 = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA256")

    /// OAEP with SHA-384, of at most the block size less 2 and two digests.
    public static let rsaEncryptionOAEPSHA384 = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA384")

    /// OAEP with SHA-512, of at most the block size less 2 and two digests.
    public static let rsaEncryptionOAEPSHA512 = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA512")

    /// AES-GCM of any size, with a key encrypted by OAEP with SHA-1.
    public static let rsaEncryptionOAEPSHA1AESGCM = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA1:AESGCM")

    /// AES-GCM of any size, with a key encrypted by OAEP with SHA-224.
    public static let rsaEncryptionOAEPSHA224AESGCM = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA224:AESGCM")

    /// AES-GCM of any size, with a key encrypted by OAEP with SHA-256.
    public static let rsaEncryptionOAEPSHA256AESGCM = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA256:AESGCM")

    /// AES-GCM of any size, with a key encrypted by OAEP with SHA-384.
    public static let rsaEncryptionOAEPSHA384AESGCM = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA384:AESGCM")

    /// AES-GCM of any size, with a key encrypted by OAEP with SHA-512.
    public static let rsaEncryptionOAEPSHA512AESGCM = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA512:AESGCM")
}

// MARK: ECIES

extension SecKeyAlgorithm {
    /// AES-GCM of any size with a vector of zeros, and a key by ECDH and X9.63 with SHA-1.
    public static let eciesEncryptionStandardX963SHA1AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA1:AESGCM"
    )

    /// AES-GCM of any size with a vector of zeros, and a key by ECDH and X9.63 with SHA-224.
    public static let eciesEncryptionStandardX963SHA224AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM"
    )

    /// AES-GCM of any size with a vector of zeros, and a key by ECDH and X9.63 with SHA-256.
    public static let eciesEncryptionStandardX963SHA256AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM"
    )

    /// AES-GCM of any size with a vector of zeros, and a key by ECDH and X9.63 with SHA-384.
    public static let eciesEncryptionStandardX963SHA384AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM"
    )

    /// AES-GCM of any size with a vector of zeros, and a key by ECDH and X9.63 with SHA-512.
    public static let eciesEncryptionStandardX963SHA512AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM"
    )

    /// AES-GCM of any size, with key and vector by ECDH and X9.63 with SHA-224.
    public static let eciesEncryptionStandardVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM-KDFIV"
    )

    /// AES-GCM of any size, with key and vector by ECDH and X9.63 with SHA-256.
    public static let eciesEncryptionStandardVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM-KDFIV"
    )

    /// AES-GCM of any size, with key and vector by ECDH and X9.63 with SHA-384.
    public static let eciesEncryptionStandardVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM-KDFIV"
    )

    /// AES-GCM of any size, with key and vector by ECDH and X9.63 with SHA-512.
    public static let eciesEncryptionStandardVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM-KDFIV"
    )

    /// AES-GCM of any size with a vector of zeros, and a key by cofactor ECDH and X9.63 with SHA-1.
    public static let eciesEncryptionCofactorX963SHA1AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA1:AESGCM"
    )

    /// AES-GCM of any size with a vector of zeros, and a key by cofactor ECDH and X9.63 with SHA-224.
    public static let eciesEncryptionCofactorX963SHA224AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM"
    )

    /// AES-GCM of any size with a vector of zeros, and a key by cofactor ECDH and X9.63 with SHA-256.
    public static let eciesEncryptionCofactorX963SHA256AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM"
    )

    /// AES-GCM of any size with a vector of zeros, and a key by cofactor ECDH and X9.63 with SHA-384.
    public static let eciesEncryptionCofactorX963SHA384AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM"
    )

    /// AES-GCM of any size with a vector of zeros, and a key by cofactor ECDH and X9.63 with SHA-512.
    public static let eciesEncryptionCofactorX963SHA512AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM"
    )

    /// AES-GCM of any size, with key and vector by cofactor ECDH and X9.63 with SHA-224.
    public static let eciesEncryptionCofactorVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM-KDFIV"
    )

    /// AES-GCM of any size, with key and vector by cofactor ECDH and X9.63 with SHA-256.
    public static let eciesEncryptionCofactorVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV"
    )

    /// AES-GCM of any size, with key and vector by cofactor ECDH and X9.63 with SHA-384.
    public static let eciesEncryptionCofactorVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM-KDFIV"
    )

    /// AES-GCM of any size, with key and vector by cofactor ECDH and X9.63 with SHA-512.
    public static let eciesEncryptionCofactorVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM-KDFIV"
    )
}

// MARK: Key exchange

extension SecKeyAlgorithm {
    /// ECDH: the coordinate x of the shared point.
    public static let ecdhKeyExchangeStandard = SecKeyAlgorithm("algid:keyexchange:ECDH")

    /// ECDH and the key derivation of X9.63 with SHA-1.
    public static let ecdhKeyExchangeStandardX963SHA1 = SecKeyAlgorithm("algid:keyexchange:ECDH:KDFX963:SHA1")

    /// ECDH and the key derivation of X9.63 with SHA-224.
    public static let ecdhKeyExchangeStandardX963SHA224 = SecKeyAlgorithm("algid:keyexchange:ECDH:KDFX963:SHA224")

    /// ECDH and the key derivation of X9.63 with SHA-256.
    public static let ecdhKeyExchangeStandardX963SHA256 = SecKeyAlgorithm("algid:keyexchange:ECDH:KDFX963:SHA256")

    /// ECDH and the key derivation of X9.63 with SHA-384.
    public static let ecdhKeyExchangeStandardX963SHA384 = SecKeyAlgorithm("algid:keyexchange:ECDH:KDFX963:SHA384")

    /// ECDH and the key derivation of X9.63 with SHA-512.
    public static let ecdhKeyExchangeStandardX963SHA512 = SecKeyAlgorithm("algid:keyexchange:ECDH:KDFX963:SHA512")

    /// Cofactor ECDH: the coordinate x of the shared point.
    public static let ecdhKeyExchangeCofactor = SecKeyAlgorithm("algid:keyexchange:ECDHC")

    /// Cofactor ECDH and the key derivation of X9.63 with SHA-1.
    public static let ecdhKeyExchangeCofactorX963SHA1 = SecKeyAlgorithm("algid:keyexchange:ECDHC:KDFX963:SHA1")

    /// Cofactor ECDH and the key derivation of X9.63 with SHA-224.
    public static let ecdhKeyExchangeCofactorX963SHA224 = SecKeyAlgorithm("algid:keyexchange:ECDHC:KDFX963:SHA224")

    /// Cofactor ECDH and the key derivation of X9.63 with SHA-256.
    public static let ecdhKeyExchangeCofactorX963SHA256 = SecKeyAlgorithm("algid:keyexchange:ECDHC:KDFX963:SHA256")

    /// Cofactor ECDH and the key derivation of X9.63 with SHA-384.
    public static let ecdhKeyExchangeCofactorX963SHA384 = SecKeyAlgorithm("algid:keyexchange:ECDHC:KDFX963:SHA384")

    /// Cofactor ECDH and the key derivation of X9.63 with SHA-512.
    public static let ecdhKeyExchangeCofactorX963SHA512 = SecKeyAlgorithm("algid:keyexchange:ECDHC:KDFX963:SHA512")
}
#endif

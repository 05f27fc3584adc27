package import KeychaindGcrypt
package import KeychaindModel

/// An algorithm of a key, by Apple's names (`SecKeyAlgorithm`).
package enum KeyAlgorithm: Hashable, Sendable {
    /// The data to sign.
    package enum SignedForm: String, CaseIterable, Hashable, Sendable {
        /// A message, which is hashed.
        case message

        /// The digest of a message.
        case digest
    }

    /// The form of an ECDSA signature.
    package enum SignatureFormat: String, CaseIterable, Hashable, Sendable {
        /// The DER sequence of r and s.
        case x962 = "X962"

        /// r and s, each of the size of the field.
        case rfc4754 = "RFC4754"
    }

    /// The kind of Diffie-Hellman; the supported curves have the cofactor 1, so that both give the same secret.
    package enum Agreement: String, CaseIterable, Hashable, Sendable {
        case standard = "ECDH"
        case cofactor = "ECDHC"
    }

    /// The source of the initialization vector of ECIES.
    package enum Vector: CaseIterable, Hashable, Sendable {
        /// Zeros: each message has a key of its own.
        case zero

        /// The bytes that follow the key in the output of the key derivation.
        case derived
    }

    case rsaSignatureRaw
    /// PKCS #1 v1.5 padding of any bytes, which should be an encoded `DigestInfo`.
    case rsaSignaturePKCS1Raw
    case rsaSignaturePKCS1(HashFunction, SignedForm)
    case rsaSignaturePSS(HashFunction, SignedForm)
    /// ECDSA of a digest of any size.
    case ecdsaSignatureDigest(SignatureFormat)
    /// The older name of ``ecdsaSignatureDigest(_:)`` with ``SignatureFormat/rfc4754``.
    case ecdsaSignatureRFC4754
    case ecdsaSignature(HashFunction, SignedForm, SignatureFormat)

    case rsaEncryptionRaw
    case rsaEncryptionPKCS1
    case rsaEncryptionOAEP(HashFunction)
    /// A key of AES-GCM by OAEP, and the data by that key.
    case rsaEncryptionOAEPAESGCM(HashFunction)
    case ecies(Agreement, HashFunction, Vector)

    /// The coordinate x of the shared point.
    case ecdh(Agreement)
    /// Key derivation of X9.63 from that coordinate.
    case ecdhX963(Agreement, HashFunction)
}

/// What a key does (`SecKeyOperationType`).
package enum KeyOperation: Int, CaseIterable, Hashable, Sendable {
    case sign, verify, encrypt, decrypt, agree

    /// The class of the keys for it.
    package var keyClass: KeyClass {
        switch self {
        case .sign, .decrypt, .agree: .private
        case .verify, .encrypt: .public
        }
    }
}

extension KeyAlgorithm {
    package var keyType: KeyType {
        switch self {
        case .rsaSignatureRaw, .rsaSignaturePKCS1Raw, .rsaSignaturePKCS1, .rsaSignaturePSS, .rsaEncryptionRaw,
            .rsaEncryptionPKCS1, .rsaEncryptionOAEP, .rsaEncryptionOAEPAESGCM:
            .rsa
        case .ecdsaSignatureDigest, .ecdsaSignatureRFC4754, .ecdsaSignature, .ecies, .ecdh, .ecdhX963:
            .ec
        }
    }

    /// Whether the algorithm is one for the operation.
    package func serves(_ operation: KeyOperation) -> Bool {
        switch self {
        case .rsaSignatureRaw, .rsaSignaturePKCS1Raw, .rsaSignaturePKCS1, .rsaSignaturePSS, .ecdsaSignatureDigest,
            .ecdsaSignatureRFC4754, .ecdsaSignature:
            operation == .sign || operation == .verify
        case .rsaEncryptionRaw, .rsaEncryptionPKCS1, .rsaEncryptionOAEP, .rsaEncryptionOAEPAESGCM, .ecies:
            operation == .encrypt || operation == .decrypt
        case .ecdh, .ecdhX963:
            operation == .agree
        }
    }

    /// Whether a key can do the operation with the algorithm.
    package func fits(_ operation: KeyOperation, type: KeyType, keyClass: KeyClass, bits: Int) -> Bool {
        serves(operation) && keyType == type && operation.keyClass == keyClass && (bits + 7) / 8 >= smallestModulus
    }

    /// The smallest modulus of RSA in bytes that has room for the padding.
    private var smallestModulus: Int {
        switch self {
        case .rsaSignaturePSS(let hash, _), .rsaEncryptionOAEP(let hash): 2 * hash.size + 2
        // The key of AES-128.
        case .rsaEncryptionOAEPAESGCM(let hash): 2 * hash.size + 2 + 16
        case .rsaSignaturePKCS1(let hash, _): hash.digestInfoPrefix.count + hash.size + 11
        case .rsaSignaturePKCS1Raw, .rsaEncryptionPKCS1: 11
        default: 0
        }
    }
}

#if Keys
import KeychaindGcrypt
import SwiftASN1

/// An encryption under a password, with its parameters: PBES2 (RFC 8018), or an older one of PKCS #12.
struct PasswordEncryption {
    private enum Scheme {
        case pbes2(BlockCipher, PBKDF2, vector: [UInt8])
        case pkcs12(BlockCipher, PKCS12Derivation)
    }

    private let scheme: Scheme
    private let salt: [UInt8]
    private let iterations: Int

    /// Reads an algorithm identifier.
    ///
    /// Throws ``errSecDecode`` if it is malformed, ``errSecUnsupportedFormat`` for an unknown algorithm.
    init(_ node: ASN1Node) throws(StatusError) {
        let parts = try node.children(.sequence)
        guard parts.count == 2 else { throw StatusError(errSecDecode, "an encryption has no parameters") }
        let algorithm = try parts[0].objectIdentifier()
        if algorithm == .pbes2 {
            let schemes = try parts[1].children(.sequence)
            guard schemes.count == 2 else { throw StatusError(errSecDecode, "the parameters of PBES2 are incomplete") }
            let derivation = try PasswordEncryption.derivation(schemes[0])
            let (cipher, vector) = try PasswordEncryption.cipher(schemes[1])
            (scheme, salt) = (.pbes2(cipher, derivation.function, vector: vector), derivation.salt)
            iterations = derivation.function.iterations
        } else {
            guard let cipher = ASN1ObjectIdentifier.oldEncryptions[algorithm] else {
                throw StatusError(errSecUnsupportedFormat, "the encryption \(algorithm) is not supported")
            }
            let parameters = try parts[1].children(.sequence)
            guard parameters.count == 2 else { throw StatusError(errSecDecode, "the parameters are incomplete") }
            salt = try parameters[0].octets(.octetString)
            iterations = try parameters[1].count()
            scheme = .pkcs12(cipher, PKCS12Derivation(hash: .sha1, iterations: iterations))
        }
    }

    /// Decrypts bytes; throws ``errSecAuthFailed`` if the password is wrong or the bytes are damaged.
    func decrypt(
        _ ciphertext: [UInt8],
        _ password: borrowing PKCS12Password,
        _ budget: inout DerivationBudget
    ) throws(StatusError) -> SecureBytes {
        try budget.spend(iterations)
        do throws(GcryptError) {
            switch scheme {
            case .pbes2(let cipher, let function, let vector):
                let key = try function.derive(password: password.utf8, salt: salt, count: cipher.keySize)
                return try cipher.decrypt(ciphertext, key: key, initializationVector: vector)
            case .pkcs12(let cipher, let function):
                let key = try function.derive(
                    .encryptionKey,
                    password: password.utf16,
                    salt: salt,
                    count: cipher.keySize
                )
                let vector = try function.derive(
                    .initializationVector,
                    password: password.utf16,
                    salt: salt,
                    count: cipher.blockSize
                )
                return try cipher.decrypt(
                    ciphertext,
                    key: key,
                    initializationVector: vector.withUnsafeBytes { Array($0) }
                )
            }
        } catch {
            throw switch error.code {
            case .invalidCiphertext: StatusError(errSecAuthFailed, "the password is wrong, or the data is damaged")
            case .invalidParameters: StatusError(errSecDecode, error.reason)
            default: StatusError(error)
            }
        }
    }

    /// Reads the key derivation of PBES2.
    private static func derivation(_ node: ASN1Node) throws(StatusError) -> (function: PBKDF2, salt: [UInt8]) {
        let parts = try node.children(.sequence)
        guard parts.count == 2, try parts[0].objectIdentifier() == .pbkdf2 else {
            throw StatusError(errSecUnsupportedFormat, "a key derivation is not supported")
        }
        let parameters = try parts[1].children(.sequence)
        guard 2...4 ~= parameters.count else { throw StatusError(errSecDecode, "the derivation is incomplete") }
        let salt = try parameters[0].octets(.octetString)
        let iterations = try parameters[1].count()
        var hash = HashFunction.sha1
        // A length of the key may be in between; it is that of the cipher.
        if let last = parameters.dropFirst(2).last, last.identifier == .sequence {
            let function = try last.children(.sequence).first?.objectIdentifier()
            guard let function, let found = ASN1ObjectIdentifier.hmacs[function] else {
                throw StatusError(errSecUnsupportedFormat, "the function of a key derivation is not supported")
            }
            hash = found
        }
        return (PBKDF2(hash: hash, iterations: iterations), salt)
    }

    /// Reads the cipher of PBES2.
    private static func cipher(_ node: ASN1Node) throws(StatusError) -> (BlockCipher, vector: [UInt8]) {
        let parts = try node.children(.sequence)
        guard parts.count == 2, let cipher = ASN1ObjectIdentifier.ciphers[try parts[0].objectIdentifier()] else {
            throw StatusError(errSecUnsupportedFormat, "a cipher is not supported")
        }
        return (cipher, try parts[1].octets(.octetString))
    }
}

extension ASN1ObjectIdentifier {
    fileprivate static let pbes2: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 5, 13]
    fileprivate static let pbkdf2: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 5, 12]

    fileprivate static let ciphers: [ASN1ObjectIdentifier: BlockCipher] = [
        [2, 16, 840, 1, 101, 3, 4, 1, 2]: .aes128,
        [2, 16, 840, 1, 101, 3, 4, 1, 22]: .aes192,
        [2, 16, 840, 1, 101, 3, 4, 1, 42]: .aes256,
        [1, 2, 840, 113549, 3, 7]: .tripleDES,
    ]

    fileprivate static let hmacs: [ASN1ObjectIdentifier: HashFunction] = [
        [1, 2, 840, 113549, 2, 7]: .sha1,
        [1, 2, 840, 113549, 2, 8]: .sha224,
        [1, 2, 840, 113549, 2, 9]: .sha256,
        [1, 2, 840, 113549, 2, 10]: .sha384,
        [1, 2, 840, 113549, 2, 11]: .sha512,
    ]

    /// RFC 7292, appendix C.
    fileprivate static let oldEncryptions: [ASN1ObjectIdentifier: BlockCipher] = [
        [1, 2, 840, 113549, 1, 12, 1, 3]: .tripleDES,
        [1, 2, 840, 113549, 1, 12, 1, 5]: .rc2,
        [1, 2, 840, 113549, 1, 12, 1, 6]: .rc2Short,
    ]
}
#endif

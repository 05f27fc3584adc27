#if Keys
import KeychaindGcrypt
import KeychaindKeys
import SwiftASN1

/// The keys and certificates of a PKCS #12 file (RFC 7292) with a password.
struct PKCS12Contents {
    /// A key or certificate with its attributes.
    struct Entry<Value> {
        let value: Value
        let name: String?
        let id: [UInt8]?
    }

    fileprivate(set) var keys: [Entry<KeyMaterial>] = []
    fileprivate(set) var certificates: [Entry<SecCertificate>] = []

    fileprivate static let limit = 1 << 24

    /// Opens a file.
    ///
    /// Throws ``errSecDecode`` if it is malformed, ``errSecAuthFailed`` if the password is wrong or the file was
    /// changed, ``errSecUnsupportedFormat`` and ``errSecUnimplemented`` for unsupported algorithms.
    init(_ file: [UInt8], password: String) throws(StatusError) {
        var fields = try ASN1Node.parseBER(file, limit: Self.limit).children(.sequence)[...]
        guard 2...3 ~= fields.count, try fields.removeFirst().integer() == [3] else {
            throw StatusError(errSecDecode, "the data is not a PKCS #12 file")
        }
        let content = try PKCS12Content(fields.removeFirst())
        guard content.type == .data else {
            throw StatusError(errSecUnsupportedFormat, "only files protected by a password are supported")
        }
        let safe = try content.node.octets(.octetString)
        var code: PKCS12AuthenticationCode?
        if let node = fields.first { code = try PKCS12AuthenticationCode(node) }
        var budget = DerivationBudget()
        var failure = StatusError(errSecAuthFailed, "the password is wrong, or the data was changed")
        for candidate in PKCS12Password.candidates(password) {
            let password = try StatusError.translating { () throws(GcryptError) in
                try PKCS12Password(candidate)
            }
            if let code, try !code.verifies(safe, password, &budget) { continue }
            do throws(StatusError) {
                var reader = PKCS12Reader(password, isVerified: code != nil, budget)
                try reader.readSafe(safe)
                self = reader.contents
                return
            } catch  where error.status == errSecAuthFailed {
                failure = error
            }
        }
        throw failure
    }

    fileprivate init() {}
}

/// A `ContentInfo`: a type and its contents.
private struct PKCS12Content {
    let type: ASN1ObjectIdentifier
    let node: ASN1Node

    init(_ node: ASN1Node) throws(StatusError) {
        let parts = try node.children(.sequence)
        guard parts.count == 2 else { throw StatusError(errSecDecode, "a part has no contents") }
        type = try parts[0].objectIdentifier()
        self.node = try parts[1].explicit()
    }
}

/// The code by which a file is protected against changes.
private struct PKCS12AuthenticationCode {
    private let function: PKCS12Derivation
    private let salt: [UInt8]
    private let code: [UInt8]

    init(_ node: ASN1Node) throws(StatusError) {
        let parts = try node.children(.sequence)
        guard 2...3 ~= parts.count else { throw StatusError(errSecDecode, "the authentication code is incomplete") }
        let digest = try parts[0].children(.sequence)
        guard digest.count == 2, let algorithm = try digest[0].children(.sequence).first?.objectIdentifier() else {
            throw StatusError(errSecDecode, "the authentication code has no algorithm")
        }
        guard let hash = ASN1ObjectIdentifier.digests[algorithm] else {
            throw StatusError(errSecUnsupportedFormat, "the authentication code \(algorithm) is not supported")
        }
        code = try digest[1].octets(.octetString)
        salt = try parts[1].octets(.octetString)
        function = PKCS12Derivation(hash: hash, iterations: parts.count == 3 ? try parts[2].count() : 1)
    }

    func verifies(
        _ safe: [UInt8],
        _ password: borrowing PKCS12Password,
        _ budget: inout DerivationBudget
    ) throws(StatusError) -> Bool {
        try budget.spend(function.iterations)
        do throws(GcryptError) {
            let key = try function.derive(
                .authenticationKey,
                password: password.utf16,
                salt: salt,
                count: function.hash.size
            )
            return try function.hash.authenticationCode(of: safe, key: key) == code
        } catch {
            throw error.code == .invalidParameters ? StatusError(errSecDecode, error.reason) : StatusError(error)
        }
    }
}

/// Reads the safes and bags of a file.
private struct PKCS12Reader: ~Copyable {
    private let password: PKCS12Password
    /// Whether the file's authentication code has shown that the password is right.
    private let isVerified: Bool
    private var budget: DerivationBudget
    private(set) var contents = PKCS12Contents()

    init(_ password: consuming PKCS12Password, isVerified: Bool, _ budget: DerivationBudget) {
        self.password = password
        self.isVerified = isVerified
        self.budget = budget
    }

    mutating func readSafe(_ safe: [UInt8]) throws(StatusError) {
        for node in try ASN1Node.parseBER(safe, limit: PKCS12Contents.limit).children(.sequence) {
            let content = try PKCS12Content(node)
            switch content.type {
            case .data: try readBags(content.node.octets(.octetString))
            case .encryptedData:
                let bags = try decrypt(content.node)
                do throws(StatusError) {
                    try readBags(bags)
                } catch {
                    throw afterDecryption(error)
                }
            default: throw StatusError(errSecUnsupportedFormat, "a part is encrypted with a public key")
            }
        }
    }

    /// The contents of an `EncryptedData` (RFC 5652, section 8): certificates, in practice.
    private mutating func decrypt(_ node: ASN1Node) throws(StatusError) -> [UInt8] {
        let parts = try node.children(.sequence)
        guard parts.count >= 2 else { throw StatusError(errSecDecode, "an encrypted part is incomplete") }
        let info = try parts[1].children(.sequence)
        guard info.count == 3 else { throw StatusError(errSecDecode, "an encrypted part has no contents") }
        let ciphertext = try info[2].octets(ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific))
        return try PasswordEncryption(info[1]).decrypt(ciphertext, password, &budget).withUnsafeBytes { Array($0) }
    }

    /// The error for decrypted data that is malformed.
    ///
    /// One of 256 wrong passwords leaves a valid padding. Without an authentication code, only the data tells.
    private func afterDecryption(_ error: StatusError) -> StatusError {
        guard error.status == errSecDecode, !isVerified else { return error }
        return StatusError(errSecAuthFailed, "the password is wrong, or the data is damaged")
    }

    private mutating func readBags(_ bags: [UInt8]) throws(StatusError) {
        for node in try ASN1Node.parseBER(bags, limit: PKCS12Contents.limit).children(.sequence) {
            try readBag(node)
        }
    }

    private mutating func readBag(_ node: ASN1Node) throws(StatusError) {
        let parts = try node.children(.sequence)
        guard 2...3 ~= parts.count else { throw StatusError(errSecDecode, "a bag is incomplete") }
        let value = try parts[1].explicit()
        let (name, id) = try parts.count == 3 ? PKCS12Reader.attributes(parts[2]) : (nil, nil)
        switch try parts[0].objectIdentifier() {
        case .keyBag:
            let der = Array(value.encodedBytes)
            let info = try StatusError.translating { () throws(GcryptError) in
                try SecureBytes(copying: der, in: .locked)
            }
            contents.keys.append(.init(value: try PrivateKeyInfo.key(info), name: name, id: id))
        case .shroudedKeyBag:
            let parts = try value.children(.sequence)
            guard parts.count == 2 else { throw StatusError(errSecDecode, "an encrypted key is incomplete") }
            let ciphertext = try parts[1].octets(.octetString)
            let info = try PasswordEncryption(parts[0]).decrypt(ciphertext, password, &budget)
            do throws(StatusError) {
                contents.keys.append(.init(value: try PrivateKeyInfo.key(info), name: name, id: id))
            } catch {
                throw afterDecryption(error)
            }
        case .certificateBag:
            let parts = try value.children(.sequence)
            guard parts.count == 2 else { throw StatusError(errSecDecode, "a certificate is incomplete") }
            guard try parts[0].objectIdentifier() == .x509 else { return }
            let certificate = try SecCertificate(parts[1].explicit().octets(.octetString))
            contents.certificates.append(.init(value: certificate, name: name, id: id))
        case .safeContentsBag:
            // Bags in bags: the parser bounds the depth of the nodes.
            for inner in try value.children(.sequence) { try readBag(inner) }
        default:
            // Revocation lists and secrets.
            return
        }
    }

    private static func attributes(_ node: ASN1Node) throws(StatusError) -> (name: String?, id: [UInt8]?) {
        var (name, id): (String?, [UInt8]?)
        for attribute in try node.children(.set) {
            let parts = try attribute.children(.sequence)
            guard parts.count == 2, let value = try parts[1].children(.set).first else { continue }
            switch try parts[0].objectIdentifier() {
            case .friendlyName: name = value.text
            case .localKeyID: id = try value.octets(.octetString)
            default: break
            }
        }
        return (name, id)
    }
}

extension ASN1ObjectIdentifier {
    fileprivate static let data: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 1]
    fileprivate static let encryptedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 6]
    fileprivate static let keyBag: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 12, 10, 1, 1]
    fileprivate static let shroudedKeyBag: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 12, 10, 1, 2]
    fileprivate static let certificateBag: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 12, 10, 1, 3]
    fileprivate static let safeContentsBag: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 12, 10, 1, 6]
    fileprivate static let x509: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 22, 1]
    fileprivate static let friendlyName: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 20]
    fileprivate static let localKeyID: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 21]

    fileprivate static let digests: [ASN1ObjectIdentifier: HashFunction] = [
        [1, 3, 14, 3, 2, 26]: .sha1,
        [2, 16, 840, 1, 101, 3, 4, 2, 4]: .sha224,
        [2, 16, 840, 1, 101, 3, 4, 2, 1]: .sha256,
        [2, 16, 840, 1, 101, 3, 4, 2, 2]: .sha384,
        [2, 16, 840, 1, 101, 3, 4, 2, 3]: .sha512,
    ]
}
#endif

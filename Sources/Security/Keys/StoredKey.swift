#if Keys
import Foundation
import KeychaindGcrypt
import KeychaindKeys
import KeychaindModel
import SecretServiceClient

/// A private key in the keychain, which is used there: its bytes do not come into this process.
///
/// With a provider other than keychaind they do, for the time of each operation.
struct StoredKey: Sendable {
    let reference: PersistentReference

    /// The attributes of the item when it was found.
    let item: KeychainItem

    /// Always of elliptic curves or RSA.
    let publicKey: KeyMaterial

    /// How a person may be asked when the key is used.
    let authentication: KeyAuthentication

    /// Nil unless the item states that it is a private key, and its public key.
    ///
    /// Throws ``errSecDecode`` for a public key that is not one of the type.
    init?(
        _ item: KeychainItem,
        _ reference: PersistentReference,
        _ authentication: KeyAuthentication
    ) throws(StatusError) {
        guard item[.keyClass] == .text(KeyClass.private.code), case .data(let bytes)? = item[.publicKey],
            case .text(let code)? = item[.keyType], let type = KeyType(code: code)
        else { return nil }
        publicKey = try KeyMaterial(checking: bytes, type: type, keyClass: .public)
        self.item = item
        self.reference = reference
        self.authentication = authentication
    }

    /// The attributes by which its items are found.
    func values() throws(StatusError) -> [KeychainAttribute: KeychainValue] {
        var values = try publicKey.values()
        values[.keyClass] = .text(KeyClass.private.code)
        return values
    }

    var type: KeyType { publicKey.type }
    var bits: Int { publicKey.bits }

    /// Whether the bytes can be read.
    var isExtractable: Bool { item[.isExtractable] != .boolean(false) }

    // MARK: Operations

    // The algorithms are checked before.

    func sign(_ data: [UInt8], _ algorithm: KeyAlgorithm) throws(StatusError) -> [UInt8] {
        // The message stays here; it may be larger than the bus allows.
        let digest = try StatusError.translating(key: { () throws(KeyError) in try algorithm.digest(of: data) })
        let name = algorithm.ofDigest.rawValue
        return try perform { (item) throws(SecretServiceError) in
            try await item.sign(digest, algorithm: name)
        } orHere: { (key) throws(KeyError) in
            try key.sign(data, algorithm)
        }
    }

    func decrypt(_ ciphertext: [UInt8], _ algorithm: KeyAlgorithm) throws(StatusError) -> [UInt8] {
        try perform { (item) throws(SecretServiceError) in
            try await item.decrypt(ciphertext, algorithm: algorithm.rawValue)?.bytes
        } orHere: { (key) throws(KeyError) in
            try key.decrypt(ciphertext, algorithm).withUnsafeBytes { Array($0) }
        }
    }

    func agree(
        with publicKey: [UInt8],
        _ algorithm: KeyAlgorithm,
        size: Int?,
        sharedInfo: [UInt8]
    ) throws(StatusError) -> [UInt8] {
        try perform { (item) throws(SecretServiceError) in
            try await item.agree(with: publicKey, algorithm: algorithm.rawValue, size: size, sharedInfo: sharedInfo)?
                .bytes
        } orHere: { (key) throws(KeyError) in
            try key.agree(with: publicKey, algorithm, size: size, sharedInfo: sharedInfo).withUnsafeBytes { Array($0) }
        }
    }

    /// Reads the external representation.
    ///
    /// Throws ``errSecUnimplemented`` for a key that is only used, as Apple does for keys of a Secure Enclave.
    func externalRepresentation() throws(StatusError) -> [UInt8] {
        guard isExtractable else { throw StatusError(errSecUnimplemented, "the key cannot be exported") }
        return try withItem { (unlocking, item) throws(SecretServiceError) in
            try await unlocking.secret(ofKey: item)
        }
    }

    /// Where an operation was performed.
    private enum Performed {
        case there([UInt8])
        /// The provider cannot use keys: the key, to be used here.
        case here(key: [UInt8])
    }

    private func perform(
        _ operation: @escaping @Sendable (SecretItem) async throws(SecretServiceError) -> [UInt8]?,
        orHere own: (KeyMaterial) throws(KeyError) -> [UInt8]
    ) throws(StatusError) -> [UInt8] {
        let performed = try withItem { (unlocking, item) throws(SecretServiceError) -> Performed in
            let result = try await unlocking.using(item) { () throws(SecretServiceError) in try await operation(item) }
            if let result { return .there(result) }
            return .here(key: try await unlocking.secret(ofKey: item))
        }
        switch performed {
        case .there(let result):
            return result
        case .here(let bytes):
            return try StatusError.translating(key: { () throws(KeyError) in
                try own(try KeyMaterial(bytes, type: type, keyClass: .private))
            })
        }
    }

    /// Runs an operation on the item, which asks a person as reading it does.
    private func withItem<Result: Sendable>(
        _ operation: @escaping @Sendable (ItemUnlocking, SecretItem) async throws(SecretServiceError) -> Result
    ) throws(StatusError) -> Result {
        let (query, path) = (authentication.query, reference.path)
        return try BlockingCall.run { (client) throws(SecretServiceError) in
            try await ItemUnlocking.during(query, on: client) { (unlocking) throws(SecretServiceError) in
                try await operation(unlocking, try client.item(at: path))
            }
        }
    }
}

extension KeyAlgorithm {
    /// The algorithm that signs the digest of a message instead of the message.
    fileprivate var ofDigest: KeyAlgorithm {
        switch self {
        case .rsaSignaturePKCS1(let hash, _): .rsaSignaturePKCS1(hash, .digest)
        case .rsaSignaturePSS(let hash, _): .rsaSignaturePSS(hash, .digest)
        case .ecdsaSignature(let hash, _, let format): .ecdsaSignature(hash, .digest, format)
        default: self
        }
    }
}
#endif

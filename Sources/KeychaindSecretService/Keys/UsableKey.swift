import KeychaindDBus
import KeychaindGcrypt
import KeychaindKeys
import KeychaindModel
import KeychaindVault

/// A private key as an item has it: its bytes, and what the item's attributes say about it.
///
/// A class because the thread that reads the key shares the bytes, which are wiped with the last reference.
final class UsableKey: Sendable {
    private let secret: Secret
    private let type: KeyType
    /// The token of the key; nil for a key that the service can use itself.
    private let token: (any KeyToken)?
    /// The public key in the attributes; nil if a program has removed it.
    private let publicKey: KeychainValue?

    /// Throws `InvalidArgs` unless the attributes are those of a private key, `NotSupported` for a kind of key of later
    /// versions.
    ///
    /// - Parameter token: the token of keys that the service cannot use itself.
    init(_ secret: consuming Secret, _ attributes: Attributes, token: any KeyToken) throws(BusError) {
        switch ReservedContentType(rawValue: secret.contentType) {
        case .tpmKey: self.token = token
        case .privateKey: self.token = nil
        case .portalSecret: throw BusError(.invalidArguments, "the item is no key")
        case nil:
            guard secret.isReleasable else { throw BusError(.notSupported, "the kind of key is unknown") }
            self.token = nil
        }
        let item = KeychainItem(attributes, label: "")
        guard item.itemClass == .key, item[.keyClass] == .text(KeyClass.private.code),
            case .text(let code)? = item[.keyType], let type = KeyType(code: code)
        else { throw BusError(.invalidArguments, "the attributes of the item are not those of a private key") }
        self.type = type
        publicKey = item[.publicKey]
        self.secret = secret
    }

    /// Reads and checks the key, which takes a millisecond or more.
    ///
    /// Throws ``KeyError/Code/malformedKey`` if the bytes are not a private key of the type, or not that of the public
    /// key in the attributes.
    func read() throws(KeyError) -> any PrivateKey {
        let key = try readUnchecked()
        guard publicKey == nil || publicKey == key.publicBytes.map(KeychainValue.data) else {
            throw KeyError(.malformedKey, "the public key in the item's attributes is that of another key")
        }
        return key
    }

    private func readUnchecked() throws(KeyError) -> any PrivateKey {
        guard let token else { return try KeyMaterial(secret.bytes, type: type, keyClass: .private) }
        guard type == .ec else { throw KeyError(.malformedKey, "the key is of type ec, unlike its attributes") }
        return try TokenKey(secret.bytes, in: token)
    }

    /// Whether a token has to use the key.
    var isInToken: Bool { token != nil }
}

extension Secret {
    /// Whether programs may have the secret; false for a key that is only used, and for a portal secret.
    var isReleasable: Bool { !ReservedContentType.isReserved(contentType) }

    /// Throws `AccessDenied` for a key that is only used, and for a portal secret.
    func checkReleasable() throws(BusError) {
        guard contentType != ReservedContentType.portalSecret.rawValue else {
            throw BusError(.accessDenied, "the secret is for the desktop portal only")
        }
        guard isReleasable else {
            throw BusError(.accessDenied, "the key does not leave the keychain; use it by \(InterfaceName.key)")
        }
    }
}

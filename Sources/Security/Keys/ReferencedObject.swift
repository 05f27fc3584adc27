#if Keys
import KeychaindKeys
import KeychaindModel

/// The value of ``kSecValueRef`` other than an item; it may or may not be in the keychain.
enum ReferencedObject: Sendable {
    case key(SecKey)
    case certificate(SecCertificate)
    case identity(SecIdentity)

    /// Takes an object of a program; nil for one of another type.
    init?(_ object: AnyObject) {
        switch object {
        case let key as SecKey: self = .key(key)
        case let certificate as SecCertificate: self = .certificate(certificate)
        case let identity as SecIdentity: self = .identity(identity)
        default: return nil
        }
    }

    /// Its class; nil for an identity.
    var itemClass: ItemClass? {
        switch self {
        case .key: .key
        case .certificate: .certificate
        case .identity: nil
        }
    }

    /// The item that it was read from, if any.
    var reference: PersistentReference? {
        switch self {
        case .key(let key): key.reference
        case .certificate(let certificate): certificate.reference
        case .identity(let identity): identity.certificate.reference?.ofIdentity
        }
    }

    /// The attributes of its item.
    func values() throws(StatusError) -> [KeychainAttribute: KeychainValue] {
        switch self {
        case .key(let key): try key.values()
        case .certificate(let certificate): try certificate.contents.values()
        case .identity(let identity): try identity.certificate.contents.values()
        }
    }
}

extension FoundItem {
    /// The key or certificate in the item; nil for items of other classes.
    var contents: AnyObject? {
        get throws(StatusError) {
            switch itemClass {
            case .certificate: try certificate
            case .key: try key
            default: nil
            }
        }
    }

    /// The certificate in the item.
    var certificate: SecCertificate {
        get throws(StatusError) { try SecCertificate(data ?? [], reference) }
    }

    /// The key in the item.
    ///
    /// A private key that states its public key stays in the keychain.
    var key: SecKey {
        get throws(StatusError) {
            if let item, let key = try StoredKey(item, reference, authentication) { return SecKey(key) }
            guard case .text(let type)? = item?[.keyType], case .text(let keyClass)? = item?[.keyClass],
                let type = KeyType(code: type), let keyClass = KeyClass(code: keyClass)
            else { throw StatusError(errSecDecode, "the item has no type and class of key") }
            return SecKey(
                try KeyMaterial(checking: data ?? [], type: type, keyClass: keyClass),
                KeyProperties(),
                reference
            )
        }
    }
}
#endif

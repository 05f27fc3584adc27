import KeychainModel

/// What `kSecValueRef` of a query can be besides an item: something with bytes of its own, which may or may not be in the keychain.
enum ReferencedObject: Sendable {
    case key(SecKey)
    case certificate(SecCertificate)
    case identity(SecIdentity)

    /// Its class; nil for an identity.
    var itemClass: ItemClass? {
        switch self {
        case .key: .key
        case .certificate: .certificate
        case .identity: nil
        }
    }

    /// The item that it was read from.
    var reference: PersistentReference? {
        switch self {
        case .key(let key): key.reference
        case .certificate(let certificate): certificate.reference
        case .identity(let identity): identity.certificate.reference?.ofIdentity
        }
    }

    /// What an item that keeps it has.
    func values() throws(StatusError) -> [KeychainAttribute: KeychainValue] {
        switch self {
        case .key(let key): try key.material.values()
        case .certificate(let certificate): try certificate.contents.values()
        case .identity(let identity): try identity.certificate.contents.values()
        }
    }
}

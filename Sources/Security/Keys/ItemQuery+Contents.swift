#if Keys
import KeychaindKeys
import KeychaindModel

extension ItemQuery {
    /// Takes the bytes and attributes of the key or certificate to add.
    mutating func takeContents() throws(StatusError) {
        switch (itemClass, object) {
        case (.certificate, let object):
            let certificate =
                if case .certificate(let certificate)? = object { certificate } else {
                    try SecCertificate(data ?? [])
                }
            data = certificate.bytes
            if label == nil { label = certificate.contents.summary }
            try take(certificate.contents.values())
        case (.key, .key(let key)):
            data = try key.itemBytes()
            try take(key.values())
            describe(key.keyClass, key.publicBytes, isExtractable: key.itemProperties().isExtractable)
            values[.isPermanent] = .boolean(true)
        case (.key, _):
            guard let data else { throw StatusError(errSecParam, "the query has no key to add") }
            // Without type and class, the key is any bytes.
            if let keyType, let keyClass {
                let material = try KeyMaterial(checking: data, type: keyType, keyClass: keyClass)
                try take(material.values())
                describe(keyClass, material.publicBytes, isExtractable: true)
            }
            values[.isPermanent] = .boolean(true)
        default:
            break
        }
    }

    /// Adds what the item of a private key states: its public key, and whether programs may read the key.
    private mutating func describe(_ keyClass: KeyClass, _ publicKey: [UInt8]?, isExtractable: Bool) {
        guard keyClass == .private else { return }
        values[.publicKey] = publicKey.map(KeychainValue.data)
        if !isExtractable || values[.isExtractable] == nil { values[.isExtractable] = .boolean(isExtractable) }
    }

    /// The type of key.
    var keyType: KeyType? {
        guard case .text(let code)? = values[.keyType] else { return nil }
        return KeyType(code: code)
    }

    /// The class of key.
    var keyClass: KeyClass? {
        guard case .text(let code)? = values[.keyClass] else { return nil }
        return KeyClass(code: code)
    }
}
#endif

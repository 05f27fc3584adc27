/// An item class of Apple's; identities are not stored, since an identity is a certificate with its key.
package enum ItemClass: String, CaseIterable, Hashable, Sendable {
    case genericPassword

    case internetPassword

    case certificate

    case key

    /// The value of `kSecClass`.
    package var code: String {
        switch self {
        case .genericPassword: "genp"
        case .internetPassword: "inet"
        case .certificate: "cert"
        case .key: "keys"
        }
    }

    package var schema: String {
        switch self {
        case .genericPassword: Attributes.genericSchema
        case .internetPassword: "org.gnome.keyring.NetworkPassword"
        case .certificate: "org.keychaind.Certificate"
        case .key: "org.keychaind.Key"
        }
    }

    /// The attributes that identify an item: no two items of this class share the values of all of them.
    package var primaryKey: [KeychainAttribute] {
        let own: [KeychainAttribute] =
            switch self {
            case .genericPassword:
                [.account, .service]
            case .internetPassword:
                [.account, .securityDomain, .server, .protocol, .authenticationType, .port, .path]
            case .certificate:
                [.certificateType, .issuer, .serialNumber]
            case .key:
                [.keyClass, .keyType, .keySize, .effectiveKeySize, .applicationLabel, .applicationTag, .creator]
            }
        return own + [.accessGroup, .synchronizable]
    }

    /// Nil if the schema is unknown.
    init?(schema: String) {
        // Git's credential helper uses the attributes of GNOME's network passwords under its own schema.
        if schema == "org.git.Password" {
            self = .internetPassword
            return
        }
        guard let itemClass = ItemClass.allCases.first(where: { $0.schema == schema }) else { return nil }
        self = itemClass
    }
}

/// An attribute of an item: `kSecAttr…` of the same name; label and dates are properties of the item instead.
package enum KeychainAttribute: String, CaseIterable, Hashable, Sendable {
    // Of every class.
    case accessControl, accessible, accessGroup, synchronizable

    // Of passwords.
    case account, comment, description, creator, type, isInvisible, isNegative

    // Of generic passwords.
    case service, generic

    // Of internet passwords.
    case server, `protocol`, port, path, securityDomain, authenticationType

    // Of certificates.
    case certificateType, certificateEncoding, subject, issuer, serialNumber, subjectKeyID, publicKeyHash

    // Of keys.
    case keyClass, keyType, keySize, effectiveKeySize, applicationLabel, applicationTag, isPermanent
    /// The external representation of a private key's public key.
    case publicKey
    /// Whether programs may read a private key, or only use it.
    case isExtractable
    /// The device that holds a private key.
    case token
    case canEncrypt, canDecrypt, canDerive, canSign, canVerify, canWrap, canUnwrap
}

package enum KeychainValue: Hashable, Sendable {
    case text(String)

    case data([UInt8])

    case number(Int64)

    case boolean(Bool)
}

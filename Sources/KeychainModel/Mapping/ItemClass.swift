/// An item class of Apple's that is stored.
///
/// Identities are not stored: an identity is a certificate with its key.
package enum ItemClass: String, CaseIterable, Hashable, Sendable {
    /// A password of a program or service.
    case genericPassword

    /// A password for a server.
    case internetPassword

    case certificate

    case key

    /// Apple's code, the value of `kSecClass`.
    package var code: String {
        switch self {
        case .genericPassword: "genp"
        case .internetPassword: "inet"
        case .certificate: "cert"
        case .key: "keys"
        }
    }

    /// The `xdg:schema` of items of this class.
    package var schema: String {
        switch self {
        case .genericPassword: "org.freedesktop.Secret.Generic"
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

    /// The class of an item of another program, from its schema; nil if the schema is unknown.
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

/// An attribute of Apple's that is stored among the attributes of an item: `kSecAttr…` of the same name.
///
/// The label and the dates are properties of an item instead.
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
    case canEncrypt, canDecrypt, canDerive, canSign, canVerify, canWrap, canUnwrap
}

/// A typed value of an attribute of Apple's.
package enum KeychainValue: Hashable, Sendable {
    /// Text, without NUL.
    case text(String)

    case data([UInt8])

    case number(Int64)

    case boolean(Bool)
}

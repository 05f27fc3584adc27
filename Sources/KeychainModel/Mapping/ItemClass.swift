/// What kind of thing an item is: Apple's classes that are stored.
///
/// An identity is none: it is a certificate and a key that belong together.
package enum ItemClass: String, CaseIterable, Hashable, Sendable {
    /// A password of a program's or service's own.
    case genericPassword

    /// A password for a server.
    case internetPassword

    /// An X.509 certificate.
    case certificate

    /// A cryptographic key.
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

    /// The attributes that tell items of this class apart: two items must not have the same values of all of them.
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

    /// The class that items of other programs belong to by their schema; nil if the schema says nothing about it.
    init?(schema: String) {
        // Git's helper stores what GNOME's network password has, under a schema of its own.
        if schema == "org.git.Password" {
            self = .internetPassword
            return
        }
        guard let itemClass = ItemClass.allCases.first(where: { $0.schema == schema }) else { return nil }
        self = itemClass
    }
}

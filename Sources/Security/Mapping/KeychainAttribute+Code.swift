import KeychainModel

/// The attributes of passwords by Apple's codes, which are the values of the constants `kSecAttr…`.
extension KeychainAttribute {
    /// What the values of an attribute are.
    enum Kind {
        case text
        case data
        case number
        case boolean
    }

    private static let codes: [KeychainAttribute: String] = [
        .account: "acct", .service: "svce", .generic: "gena", .server: "srvr", .protocol: "ptcl",
        .authenticationType: "atyp", .port: "port", .path: "path", .securityDomain: "sdmn", .description: "desc",
        .comment: "icmt", .creator: "crtr", .type: "type", .isInvisible: "invi", .isNegative: "nega",
        .accessGroup: "agrp", .synchronizable: "sync", .accessible: "pdmn", .accessControl: "accc",
    ]

    /// The attributes that items of other programs can have too.
    static let foreign: Set<KeychainAttribute> = [
        .account, .service, .server, .protocol, .authenticationType, .port, .path, .securityDomain,
    ]

    private static let genericOnly: Set<KeychainAttribute> = [.service, .generic]
    private static let internetOnly: Set<KeychainAttribute> = [
        .server, .protocol, .authenticationType, .port, .path, .securityDomain,
    ]

    /// Takes Apple's code; nil for the label and for what is no attribute of passwords.
    init?(code: String) {
        guard let found = KeychainAttribute.codes.first(where: { $0.value == code })?.key else { return nil }
        self = found
    }

    /// Apple's code; nil for what is no attribute of passwords.
    var code: String? { KeychainAttribute.codes[self] }

    /// What its values are.
    var kind: Kind {
        switch self {
        case .generic: .data
        case .port, .creator, .type: .number
        case .isInvisible, .isNegative, .synchronizable: .boolean
        default: .text
        }
    }

    /// Whether passwords of a class have it.
    func isOf(_ itemClass: ItemClass) -> Bool {
        switch itemClass {
        case .genericPassword: !KeychainAttribute.internetOnly.contains(self)
        case .internetPassword: !KeychainAttribute.genericOnly.contains(self)
        case .certificate, .key: false
        }
    }
}

extension KeychainValue {
    /// Whether an item without the attribute counts as one with this value.
    var isEmpty: Bool {
        switch self {
        case .text(let text): text.isEmpty
        case .data(let bytes): bytes.isEmpty
        case .number(let number): number == 0
        case .boolean(let value): !value
        }
    }
}

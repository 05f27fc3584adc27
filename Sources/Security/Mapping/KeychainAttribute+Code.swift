import KeychainModel

/// The attributes by Apple's codes, which are the values of the constants `kSecAttr…`.
extension KeychainAttribute {
    /// What the values of an attribute are.
    enum Kind {
        /// Text, for which programs write data and numbers, too.
        case text
        case data
        /// Data, for which programs write text and numbers, too.
        case dataOrText
        /// Text, for which programs write numbers, too.
        case code
        case number
        case boolean
    }

    private static let codes: [KeychainAttribute: String] = [
        .account: "acct", .service: "svce", .generic: "gena", .server: "srvr", .protocol: "ptcl",
        .authenticationType: "atyp", .port: "port", .path: "path", .securityDomain: "sdmn", .description: "desc",
        .comment: "icmt", .creator: "crtr", .type: "type", .isInvisible: "invi", .isNegative: "nega",
        .accessGroup: "agrp", .synchronizable: "sync", .accessible: "pdmn", .accessControl: "accc",
        .certificateType: "ctyp", .certificateEncoding: "cenc", .subject: "subj", .issuer: "issr",
        .serialNumber: "slnr", .subjectKeyID: "skid", .publicKeyHash: "pkhh", .keyClass: "kcls", .keyType: "type",
        .keySize: "bsiz", .effectiveKeySize: "esiz", .applicationLabel: "klbl", .applicationTag: "atag",
        .isPermanent: "perm", .canEncrypt: "encr", .canDecrypt: "decr", .canDerive: "drve", .canSign: "sign",
        .canVerify: "vrfy", .canWrap: "wrap", .canUnwrap: "unwp",
    ]

    /// The attributes that items of other programs can have too.
    static let foreign: Set<KeychainAttribute> = [
        .account, .service, .server, .protocol, .authenticationType, .port, .path, .securityDomain,
    ]

    /// What follows from the data of a key or certificate, and cannot be changed without it.
    static let workedOut: Set<KeychainAttribute> = [
        .certificateType, .certificateEncoding, .subject, .issuer, .serialNumber, .subjectKeyID, .publicKeyHash,
        .keyClass, .keyType, .keySize, .effectiveKeySize,
    ]

    /// Takes Apple's code; nil for the label and for what is no attribute.
    ///
    /// - Parameter areKeys: whether it is one of keys, whose type has the code of a password's.
    init?(code: String, areKeys: Bool) {
        let ambiguous: KeychainAttribute = areKeys ? .type : .keyType
        guard let found = KeychainAttribute.codes.first(where: { $0.value == code && $0.key != ambiguous })?.key else {
            return nil
        }
        self = found
    }

    /// Apple's code; nil for what has none.
    var code: String? { KeychainAttribute.codes[self] }

    /// Whether a value is not stored, since it tells items apart and says the same as none.
    func isLeftOut(in itemClass: ItemClass, _ value: KeychainValue) -> Bool {
        // These are searched for when they are empty, too.
        guard ![.account, .service, .server].contains(self) else { return false }
        return value.isEmpty && itemClass.primaryKey.contains(self)
    }

    /// What its values are.
    var kind: Kind {
        switch self {
        case .subject, .issuer, .serialNumber, .subjectKeyID, .publicKeyHash: .data
        case .generic, .applicationLabel, .applicationTag: .dataOrText
        case .keyClass, .keyType: .code
        case .port, .creator, .type, .certificateType, .certificateEncoding, .keySize, .effectiveKeySize: .number
        case .isInvisible, .isNegative, .synchronizable, .isPermanent, .canEncrypt, .canDecrypt, .canDerive, .canSign,
            .canVerify, .canWrap, .canUnwrap:
            .boolean
        default: .text
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

import KeychaindModel

/// Attributes by Apple's codes, the values of the constants `kSecAttr…`.
extension KeychainAttribute {
    /// The type of the values of an attribute.
    enum Kind {
        /// Text; data and numbers are accepted, and become text.
        case text
        /// Text or data, which keep their type; numbers become text.
        case textOrData
        case data
        /// Data or text, which keep their type; numbers become data.
        case dataOrText
        /// Text; numbers are accepted.
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
        .isPermanent: "perm", .isExtractable: "extr", .token: "tkid", .canEncrypt: "encr", .canDecrypt: "decr",
        .canDerive: "drve",
        .canSign: "sign",
        .canVerify: "vrfy", .canWrap: "wrap", .canUnwrap: "unwp",
    ]

    /// The attributes by their codes; of those with the code of the type, any.
    private static let attributes = Dictionary(codes.map { ($0.value, $0.key) }) { first, _ in first }

    /// The attributes that items of other programs can have, and the accessibility, which they may match without one.
    static let foreign: Set<KeychainAttribute> = [
        .account, .service, .server, .protocol, .authenticationType, .port, .path, .securityDomain, .accessible,
    ]

    /// The attributes computed from a key or certificate, which cannot be changed.
    static let computed: Set<KeychainAttribute> = [
        .certificateType, .certificateEncoding, .subject, .issuer, .serialNumber, .subjectKeyID, .publicKeyHash,
        .keyClass, .keyType, .keySize, .effectiveKeySize, .publicKey, .isExtractable, .token,
    ]

    /// The attribute with a code; nil for the label and for unknown codes.
    ///
    /// - Parameter areKeys: whether the code belongs to keys: their type has the same code as a password's.
    init?(code: String, areKeys: Bool) {
        guard code != "type" else {
            self = areKeys ? .keyType : .type
            return
        }
        guard let found = KeychainAttribute.attributes[code] else { return nil }
        self = found
    }

    /// Apple's code; nil if there is none.
    var code: String? { KeychainAttribute.codes[self] }

    /// Whether a value is not stored because it is empty, which in a primary key means the same as none.
    func isOmitted(in itemClass: ItemClass, _ value: KeychainValue) -> Bool {
        // Searches for empty values need these.
        guard ![.account, .service, .server].contains(self) else { return false }
        return value.isEmpty && itemClass.primaryKey.contains(self)
    }

    /// The type of the values.
    var kind: Kind {
        switch self {
        case .subject, .issuer, .serialNumber, .subjectKeyID, .publicKeyHash, .publicKey: .data
        case .generic, .applicationLabel, .applicationTag: .dataOrText
        case .account, .service, .server, .path, .securityDomain, .comment, .description: .textOrData
        case .keyClass, .keyType: .code
        case .port, .creator, .type, .certificateType, .certificateEncoding, .keySize, .effectiveKeySize: .number
        case .isInvisible, .isNegative, .synchronizable, .isPermanent, .isExtractable, .canEncrypt, .canDecrypt,
            .canDerive, .canSign,
            .canVerify, .canWrap, .canUnwrap:
            .boolean
        default: .text
        }
    }
}

extension KeychainValue {
    /// Whether the value equals a missing attribute.
    var isEmpty: Bool {
        switch self {
        case .text(let text): text.isEmpty
        case .data(let bytes): bytes.isEmpty
        case .number(let number): number == 0
        case .boolean(let value): !value
        }
    }
}

/// How an item stores an attribute of Apple's.
///
/// Attributes that identify an item have names without a prefix, so that they also count for replacement, which ignores
/// reserved names.
struct AttributeRule: Hashable, Sendable {
    let attribute: KeychainAttribute

    let name: String

    let form: AttributeForm

    init(_ attribute: KeychainAttribute, _ name: String, _ form: AttributeForm = .text) {
        self.attribute = attribute
        self.name = name
        self.form = form
    }
}

extension ItemClass {
    private static let code = AttributeForm.number(0...Int64(UInt32.max))

    private static let common = [
        AttributeRule(.accessControl, ReservedAttribute.accessControl.rawValue),
        AttributeRule(.accessible, ReservedAttribute.accessible.rawValue),
        AttributeRule(.accessGroup, ReservedAttribute.accessGroup.rawValue),
        AttributeRule(.synchronizable, ReservedAttribute.synchronizable.rawValue, .boolean),
    ]

    private static let password = [
        AttributeRule(.comment, "keychain:comment", .textOrData),
        AttributeRule(.description, "keychain:description", .textOrData),
        AttributeRule(.creator, "keychain:creator", code), AttributeRule(.type, "keychain:type", code),
        AttributeRule(.isInvisible, "keychain:invisible", .boolean),
        AttributeRule(.isNegative, "keychain:negative", .boolean),
    ]

    private static let genericPasswordRules =
        common + password + [
            AttributeRule(.service, "service", .textOrData), AttributeRule(.account, "account", .textOrData),
            AttributeRule(.generic, "keychain:generic", .dataOrText),
        ]

    private static let internetPasswordRules =
        common + password + [
            AttributeRule(.server, "server", .textOrData), AttributeRule(.account, "user", .textOrData),
            AttributeRule(.protocol, "protocol", .protocolName), AttributeRule(.port, "port", .number(0...65535)),
            AttributeRule(.path, "object", .textOrData), AttributeRule(.securityDomain, "domain", .textOrData),
            AttributeRule(.authenticationType, "authtype", .schemeName),
        ]

    private static let certificateRules =
        common + [
            AttributeRule(.certificateType, "certificate-type", code), AttributeRule(.issuer, "issuer", .data),
            AttributeRule(.serialNumber, "serial-number", .data), AttributeRule(.subject, "subject", .data),
            AttributeRule(.subjectKeyID, "keychain:subject-key-id", .data),
            AttributeRule(.publicKeyHash, "keychain:public-key-hash", .data),
            AttributeRule(.certificateEncoding, "keychain:certificate-encoding", code),
        ]

    private static let keyRules =
        common + [
            AttributeRule(.keyClass, "key-class", .keyClassName), AttributeRule(.keyType, "key-type", .keyTypeName),
            AttributeRule(.keySize, "key-size", code), AttributeRule(.effectiveKeySize, "effective-key-size", code),
            AttributeRule(.applicationLabel, "application-label", .dataOrText),
            AttributeRule(.applicationTag, "application-tag", .dataOrText), AttributeRule(.creator, "creator", code),
            AttributeRule(.isPermanent, "keychain:permanent", .boolean),
            AttributeRule(.publicKey, "keychain:public-key", .data),
            AttributeRule(.isExtractable, "keychain:extractable", .boolean),
            AttributeRule(.token, "keychain:token", .keyTokenName),
            AttributeRule(.canEncrypt, "keychain:can-encrypt", .boolean),
            AttributeRule(.canDecrypt, "keychain:can-decrypt", .boolean),
            AttributeRule(.canDerive, "keychain:can-derive", .boolean),
            AttributeRule(.canSign, "keychain:can-sign", .boolean),
            AttributeRule(.canVerify, "keychain:can-verify", .boolean),
            AttributeRule(.canWrap, "keychain:can-wrap", .boolean),
            AttributeRule(.canUnwrap, "keychain:can-unwrap", .boolean),
        ]

    package func has(_ attribute: KeychainAttribute) -> Bool {
        rules.contains { $0.attribute == attribute }
    }

    var rules: [AttributeRule] {
        switch self {
        case .genericPassword: ItemClass.genericPasswordRules
        case .internetPassword: ItemClass.internetPasswordRules
        case .certificate: ItemClass.certificateRules
        case .key: ItemClass.keyRules
        }
    }
}

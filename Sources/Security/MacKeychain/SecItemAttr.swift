/// The class of an item as a number.
public enum SecItemClass: FourCharCode, Sendable {
    /// An internet password.
    case internetPasswordItemClass = 0x696E_6574

    /// A generic password.
    case genericPasswordItemClass = 0x6765_6E70
}

/// The attribute of an item as a number.
public enum SecItemAttr: FourCharCode, Sendable {
    /// The date of creation.
    case creationDateItemAttr = 0x6364_6174

    /// The date of the last change.
    case modDateItemAttr = 0x6D64_6174

    /// The kind of the item, for people.
    case descriptionItemAttr = 0x6465_7363

    /// A comment of the user.
    case commentItemAttr = 0x6963_6D74

    /// The creator's number.
    case creatorItemAttr = 0x6372_7472

    /// The type's number.
    case typeItemAttr = 0x7479_7065

    /// The name of the item, for people.
    case labelItemAttr = 0x6C61_626C

    /// Whether the item is hidden.
    case invisibleItemAttr = 0x696E_7669

    /// Whether the item has no valid password.
    case negativeItemAttr = 0x6E65_6761

    /// The account.
    case accountItemAttr = 0x6163_6374

    /// The service of a generic password.
    case serviceItemAttr = 0x7376_6365

    /// Data of the program in a generic password.
    case genericItemAttr = 0x6765_6E61

    /// The security domain of an internet password.
    case securityDomainItemAttr = 0x7364_6D6E

    /// The server of an internet password.
    case serverItemAttr = 0x7372_7672

    /// The authentication type of an internet password.
    case authenticationTypeItemAttr = 0x6174_7970

    /// The port of an internet password.
    case portItemAttr = 0x706F_7274

    /// The path of an internet password.
    case pathItemAttr = 0x7061_7468

    /// The protocol of an internet password.
    case protocolItemAttr = 0x7074_636C
}

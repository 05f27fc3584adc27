public import Foundation

// `nonisolated(unsafe)`: immutable strings, whose class is not declared Sendable.

/// The access list of an item on macOS.
public nonisolated(unsafe) let kSecAttrAccess: CFString = "acls"

/// The access control of the item: a ``SecAccessControl``.
public nonisolated(unsafe) let kSecAttrAccessControl: CFString = "accc"

/// When the item is accessible.
public nonisolated(unsafe) let kSecAttrAccessible: CFString = "pdmn"

/// The access group of the item.
public nonisolated(unsafe) let kSecAttrAccessGroup: CFString = "agrp"

/// Whether the item is marked for synchronisation with other devices.
public nonisolated(unsafe) let kSecAttrSynchronizable: CFString = "sync"

/// Matches items with and without the mark for synchronisation.
public nonisolated(unsafe) let kSecAttrSynchronizableAny: CFString = "syna"

/// The date of creation; read-only.
public nonisolated(unsafe) let kSecAttrCreationDate: CFString = "cdat"

/// The date of the last change; read-only.
public nonisolated(unsafe) let kSecAttrModificationDate: CFString = "mdat"

/// The kind of the item, for people.
public nonisolated(unsafe) let kSecAttrDescription: CFString = "desc"

/// A comment of the user.
public nonisolated(unsafe) let kSecAttrComment: CFString = "icmt"

/// The creator's number.
public nonisolated(unsafe) let kSecAttrCreator: CFString = "crtr"

/// The type's number.
public nonisolated(unsafe) let kSecAttrType: CFString = "type"

/// The name of the item, for people.
public nonisolated(unsafe) let kSecAttrLabel: CFString = "labl"

/// Whether the item is hidden.
public nonisolated(unsafe) let kSecAttrIsInvisible: CFString = "invi"

/// Whether the item has no valid password.
public nonisolated(unsafe) let kSecAttrIsNegative: CFString = "nega"

/// The account.
public nonisolated(unsafe) let kSecAttrAccount: CFString = "acct"

/// The service of a generic password.
public nonisolated(unsafe) let kSecAttrService: CFString = "svce"

/// Data of the program in a generic password.
public nonisolated(unsafe) let kSecAttrGeneric: CFString = "gena"

/// The security domain of an internet password.
public nonisolated(unsafe) let kSecAttrSecurityDomain: CFString = "sdmn"

/// The server of an internet password.
public nonisolated(unsafe) let kSecAttrServer: CFString = "srvr"

/// The protocol of an internet password.
public nonisolated(unsafe) let kSecAttrProtocol: CFString = "ptcl"

/// The authentication type of an internet password.
public nonisolated(unsafe) let kSecAttrAuthenticationType: CFString = "atyp"

/// The port of an internet password.
public nonisolated(unsafe) let kSecAttrPort: CFString = "port"

/// The path of an internet password.
public nonisolated(unsafe) let kSecAttrPath: CFString = "path"

/// The subject of a certificate.
public nonisolated(unsafe) let kSecAttrSubject: CFString = "subj"

/// The issuer of a certificate.
public nonisolated(unsafe) let kSecAttrIssuer: CFString = "issr"

/// The serial number of a certificate.
public nonisolated(unsafe) let kSecAttrSerialNumber: CFString = "slnr"

/// The subject key identifier of a certificate.
public nonisolated(unsafe) let kSecAttrSubjectKeyID: CFString = "skid"

/// The hash of the public key of a certificate.
public nonisolated(unsafe) let kSecAttrPublicKeyHash: CFString = "pkhh"

/// The type of a certificate.
public nonisolated(unsafe) let kSecAttrCertificateType: CFString = "ctyp"

/// The encoding of a certificate.
public nonisolated(unsafe) let kSecAttrCertificateEncoding: CFString = "cenc"

/// Whether a key is public, private or symmetric.
public nonisolated(unsafe) let kSecAttrKeyClass: CFString = "kcls"

/// The label by which programs find a key.
public nonisolated(unsafe) let kSecAttrApplicationLabel: CFString = "klbl"

/// Whether a key is stored in the keychain.
public nonisolated(unsafe) let kSecAttrIsPermanent: CFString = "perm"

/// Data of the program in a key.
public nonisolated(unsafe) let kSecAttrApplicationTag: CFString = "atag"

/// The algorithm of a key.
public nonisolated(unsafe) let kSecAttrKeyType: CFString = "type"

/// The size of a key in bits.
public nonisolated(unsafe) let kSecAttrKeySizeInBits: CFString = "bsiz"

/// The effective size of a key in bits.
public nonisolated(unsafe) let kSecAttrEffectiveKeySize: CFString = "esiz"

/// While the session is unlocked.
public nonisolated(unsafe) let kSecAttrAccessibleWhenUnlocked: CFString = "ak"

/// After the first unlock.
public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"

/// Always; deprecated by Apple.
public nonisolated(unsafe) let kSecAttrAccessibleAlways: CFString = "dk"

/// While the session is unlocked and a passcode is set; never leaves this device.
public nonisolated(unsafe) let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"

/// While the session is unlocked; never leaves this device.
public nonisolated(unsafe) let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"

/// After the first unlock; never leaves this device.
public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"

/// Always; never leaves this device; deprecated by Apple.
public nonisolated(unsafe) let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"

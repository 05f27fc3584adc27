public import Foundation

// `nonisolated(unsafe)`: constants, of a class that cannot say that its immutable ones are Sendable.

/// Who may use the item, on macOS.
public nonisolated(unsafe) let kSecAttrAccess: CFString = "acls"

/// What has to be proved before the item is released: a ``SecAccessControl``.
public nonisolated(unsafe) let kSecAttrAccessControl: CFString = "accc"

/// When the item can be used.
public nonisolated(unsafe) let kSecAttrAccessible: CFString = "pdmn"

/// The group of programs that the item belongs to.
public nonisolated(unsafe) let kSecAttrAccessGroup: CFString = "agrp"

/// Whether the item is marked to be synchronised with other devices.
public nonisolated(unsafe) let kSecAttrSynchronizable: CFString = "sync"

/// Items that are marked to be synchronised, and items that are not.
public nonisolated(unsafe) let kSecAttrSynchronizableAny: CFString = "syna"

/// When the item was made; cannot be set.
public nonisolated(unsafe) let kSecAttrCreationDate: CFString = "cdat"

/// When the item was last changed; cannot be set.
public nonisolated(unsafe) let kSecAttrModificationDate: CFString = "mdat"

/// What kind of item it is, for people.
public nonisolated(unsafe) let kSecAttrDescription: CFString = "desc"

/// What the user has noted about the item.
public nonisolated(unsafe) let kSecAttrComment: CFString = "icmt"

/// A number for the program that made the item.
public nonisolated(unsafe) let kSecAttrCreator: CFString = "crtr"

/// A number for the type of the item.
public nonisolated(unsafe) let kSecAttrType: CFString = "type"

/// The name of the item, for people.
public nonisolated(unsafe) let kSecAttrLabel: CFString = "labl"

/// Whether the item is not to be shown.
public nonisolated(unsafe) let kSecAttrIsInvisible: CFString = "invi"

/// Whether there is no valid password in the item.
public nonisolated(unsafe) let kSecAttrIsNegative: CFString = "nega"

/// The account.
public nonisolated(unsafe) let kSecAttrAccount: CFString = "acct"

/// The service of a generic password.
public nonisolated(unsafe) let kSecAttrService: CFString = "svce"

/// Data of the program's own, of a generic password.
public nonisolated(unsafe) let kSecAttrGeneric: CFString = "gena"

/// The security domain of an internet password.
public nonisolated(unsafe) let kSecAttrSecurityDomain: CFString = "sdmn"

/// The server of an internet password.
public nonisolated(unsafe) let kSecAttrServer: CFString = "srvr"

/// The protocol of an internet password.
public nonisolated(unsafe) let kSecAttrProtocol: CFString = "ptcl"

/// How an internet password is used to authenticate.
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

/// What a key is looked up by in programs.
public nonisolated(unsafe) let kSecAttrApplicationLabel: CFString = "klbl"

/// Whether a key is kept in the keychain.
public nonisolated(unsafe) let kSecAttrIsPermanent: CFString = "perm"

/// Data of the program's own, of a key.
public nonisolated(unsafe) let kSecAttrApplicationTag: CFString = "atag"

/// The algorithm of a key.
public nonisolated(unsafe) let kSecAttrKeyType: CFString = "type"

/// The size of a key.
public nonisolated(unsafe) let kSecAttrKeySizeInBits: CFString = "bsiz"

/// How many bits of a key count.
public nonisolated(unsafe) let kSecAttrEffectiveKeySize: CFString = "esiz"

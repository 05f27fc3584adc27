/// An attribute of Apple's that an item keeps among its own; the constant `kSecAttr…` of the same name.
///
/// The label and the two dates are not here: they are properties of an item.
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

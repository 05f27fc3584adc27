public import Foundation

// `nonisolated(unsafe)`: immutable strings, whose class is not declared Sendable.

/// A public key.
public nonisolated(unsafe) let kSecAttrKeyClassPublic: CFString = "0"

/// A private key.
public nonisolated(unsafe) let kSecAttrKeyClassPrivate: CFString = "1"

/// A symmetric key.
public nonisolated(unsafe) let kSecAttrKeyClassSymmetric: CFString = "2"

/// RSA.
public nonisolated(unsafe) let kSecAttrKeyTypeRSA: CFString = "42"

/// Elliptic curves.
public nonisolated(unsafe) let kSecAttrKeyTypeEC: CFString = "73"

/// Elliptic curves over prime fields.
public nonisolated(unsafe) let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"

/// Elliptic curves, by the name for signatures.
public nonisolated(unsafe) let kSecAttrKeyTypeECDSA: CFString = "73"

/// DSA; not supported.
public nonisolated(unsafe) let kSecAttrKeyTypeDSA: CFString = "43"

/// AES.
public nonisolated(unsafe) let kSecAttrKeyTypeAES: CFString = "2147483649"

/// DES.
public nonisolated(unsafe) let kSecAttrKeyTypeDES: CFString = "14"

/// Triple DES.
public nonisolated(unsafe) let kSecAttrKeyType3DES: CFString = "17"

/// RC4.
public nonisolated(unsafe) let kSecAttrKeyTypeRC4: CFString = "25"

/// RC2.
public nonisolated(unsafe) let kSecAttrKeyTypeRC2: CFString = "23"

/// CAST.
public nonisolated(unsafe) let kSecAttrKeyTypeCAST: CFString = "28"

/// The attributes of the private key of a pair.
public nonisolated(unsafe) let kSecPrivateKeyAttrs: CFString = "private"

/// The attributes of the public key of a pair.
public nonisolated(unsafe) let kSecPublicKeyAttrs: CFString = "public"

/// The device that holds a key: ``kSecAttrTokenIDSecureEnclave``.
public nonisolated(unsafe) let kSecAttrTokenID: CFString = "tkid"

/// The Secure Enclave; here the TPM of the computer (<doc:SecureEnclave>).
public nonisolated(unsafe) let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"

/// Whether programs may have the bytes of a key: true unless it was created otherwise.
public nonisolated(unsafe) let kSecAttrIsExtractable: CFString = "extr"

/// Whether a key can encrypt.
public nonisolated(unsafe) let kSecAttrCanEncrypt: CFString = "encr"

/// Whether a key can decrypt.
public nonisolated(unsafe) let kSecAttrCanDecrypt: CFString = "decr"

/// Whether other keys can be derived from a key.
public nonisolated(unsafe) let kSecAttrCanDerive: CFString = "drve"

/// Whether a key can sign.
public nonisolated(unsafe) let kSecAttrCanSign: CFString = "sign"

/// Whether a key can verify signatures.
public nonisolated(unsafe) let kSecAttrCanVerify: CFString = "vrfy"

/// Whether a key can wrap other keys.
public nonisolated(unsafe) let kSecAttrCanWrap: CFString = "wrap"

/// Whether a key can unwrap other keys.
public nonisolated(unsafe) let kSecAttrCanUnwrap: CFString = "unwp"

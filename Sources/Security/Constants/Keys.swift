public import Foundation

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

/// Elliptic curves over the primes of SECG.
public nonisolated(unsafe) let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"

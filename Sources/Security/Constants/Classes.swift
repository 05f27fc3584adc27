public import Foundation

// `nonisolated(unsafe)`: constants, of a class that cannot say that its immutable ones are Sendable.

/// The key of a query whose value is the class of items.
public nonisolated(unsafe) let kSecClass: CFString = "class"

/// A password of any kind, told apart by service and account.
public nonisolated(unsafe) let kSecClassGenericPassword: CFString = "genp"

/// A password for a server.
public nonisolated(unsafe) let kSecClassInternetPassword: CFString = "inet"

/// A certificate.
public nonisolated(unsafe) let kSecClassCertificate: CFString = "cert"

/// A cryptographic key.
public nonisolated(unsafe) let kSecClassKey: CFString = "keys"

/// A certificate together with its private key.
public nonisolated(unsafe) let kSecClassIdentity: CFString = "idnt"

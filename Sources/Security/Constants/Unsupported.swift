public import Foundation

// `nonisolated(unsafe)`: immutable strings, whose class is not declared Sendable.

/// Whether a key may be exported in the clear, on macOS; not supported: see ``kSecAttrIsExtractable``.
public nonisolated(unsafe) let kSecAttrIsSensitive: CFString = "sens"

/// The persistent reference as an attribute; not supported: see ``kSecValuePersistentRef``.
public nonisolated(unsafe) let kSecAttrPersistentReference: CFString = "persistref"

/// The older spelling of ``kSecAttrPersistentReference``.
public nonisolated(unsafe) let kSecAttrPersistantReference: CFString = "persistref"

/// A hint for the synchronisation with other devices; not supported.
public nonisolated(unsafe) let kSecAttrSyncViewHint: CFString = "vwht"

/// The function of a key derivation, on macOS; not supported.
public nonisolated(unsafe) let kSecAttrPRF: CFString = "prf"

/// The salt of a key derivation, on macOS; not supported.
public nonisolated(unsafe) let kSecAttrSalt: CFString = "salt"

/// The rounds of a key derivation, on macOS; not supported.
public nonisolated(unsafe) let kSecAttrRounds: CFString = "rounds"

/// A host or its subdomains, for certificates; not supported.
public nonisolated(unsafe) let kSecMatchHostOrSubdomainOfHost: CFString = "m_HostOrSubdomainOfHost"

/// The keychain of all users of a tvOS device; not supported.
public nonisolated(unsafe) let kSecUseUserIndependentKeychain: CFString = "u_UserIndependent"

/// The access group of items on tokens such as smart cards; no item has it here.
public nonisolated(unsafe) let kSecAttrAccessGroupToken: CFString = "com.apple.token"

public import Foundation

// `nonisolated(unsafe)`: constants, of a class that cannot say that its immutable ones are Sendable.

/// Authentication by NTLM.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeNTLM: CFString = "ntlm"

/// Authentication by MSN.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeMSN: CFString = "msna"

/// Authentication by DPA.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeDPA: CFString = "dpaa"

/// Authentication by RPA.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeRPA: CFString = "rpaa"

/// Authentication by HTTPBasic.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http"

/// Authentication by HTTPDigest.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd"

/// Authentication by HTMLForm.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTMLForm: CFString = "form"

/// Authentication by Default.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeDefault: CFString = "dflt"

public import Foundation

// `nonisolated(unsafe)`: immutable strings, whose class is not declared Sendable.

/// The class of items.
public nonisolated(unsafe) let kSecClass: CFString = "class"

/// A password for a service and an account.
public nonisolated(unsafe) let kSecClassGenericPassword: CFString = "genp"

/// A password for a server.
public nonisolated(unsafe) let kSecClassInternetPassword: CFString = "inet"

/// A certificate.
public nonisolated(unsafe) let kSecClassCertificate: CFString = "cert"

/// A cryptographic key.
public nonisolated(unsafe) let kSecClassKey: CFString = "keys"

/// A certificate with its private key.
public nonisolated(unsafe) let kSecClassIdentity: CFString = "idnt"

/// Whether to return the secret.
public nonisolated(unsafe) let kSecReturnData: CFString = "r_Data"

/// Whether to return the attributes.
public nonisolated(unsafe) let kSecReturnAttributes: CFString = "r_Attributes"

/// Whether to return a reference.
public nonisolated(unsafe) let kSecReturnRef: CFString = "r_Ref"

/// Whether to return a persistent reference.
public nonisolated(unsafe) let kSecReturnPersistentRef: CFString = "r_PersistentRef"

/// The secret.
public nonisolated(unsafe) let kSecValueData: CFString = "v_Data"

/// A reference.
public nonisolated(unsafe) let kSecValueRef: CFString = "v_Ref"

/// A persistent reference.
public nonisolated(unsafe) let kSecValuePersistentRef: CFString = "v_PersistentRef"

/// The maximum number of items: ``kSecMatchLimitOne``, ``kSecMatchLimitAll`` or a number.
public nonisolated(unsafe) let kSecMatchLimit: CFString = "m_Limit"

/// One item; the default.
public nonisolated(unsafe) let kSecMatchLimitOne: CFString = "m_LimitOne"

/// All items, in an array.
public nonisolated(unsafe) let kSecMatchLimitAll: CFString = "m_LimitAll"

/// Whether upper and lower case match.
public nonisolated(unsafe) let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"

/// A policy for certificates; not supported.
public nonisolated(unsafe) let kSecMatchPolicy: CFString = "m_Policy"

/// The items to search.
public nonisolated(unsafe) let kSecMatchItemList: CFString = "m_ItemList"

/// The keychains to search; not supported.
public nonisolated(unsafe) let kSecMatchSearchList: CFString = "m_SearchList"

/// Issuers in the chain of a certificate.
public nonisolated(unsafe) let kSecMatchIssuers: CFString = "m_Issuers"

/// An address in a certificate.
public nonisolated(unsafe) let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"

/// A text in the subject of a certificate.
public nonisolated(unsafe) let kSecMatchSubjectContains: CFString = "m_SubjectContains"

/// A text at the start of a part of a certificate's subject.
public nonisolated(unsafe) let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"

/// A text at the end of a part of a certificate's subject.
public nonisolated(unsafe) let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"

/// A part of a certificate's subject.
public nonisolated(unsafe) let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"

/// Whether letters with and without accents match, in subjects.
public nonisolated(unsafe) let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"

/// Whether wide and narrow letters match, in subjects.
public nonisolated(unsafe) let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"

/// Whether a certificate must be trusted; only false is supported.
public nonisolated(unsafe) let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"

/// A date on which a certificate is valid.
public nonisolated(unsafe) let kSecMatchValidOnDate: CFString = "m_ValidOnDate"

/// The items to use.
public nonisolated(unsafe) let kSecUseItemList: CFString = "u_ItemList"

/// The keychain to use, on macOS.
public nonisolated(unsafe) let kSecUseKeychain: CFString = "u_Keychain"

/// The reason that the dialog shows.
public nonisolated(unsafe) let kSecUseOperationPrompt: CFString = "u_OpPrompt"

/// Whether asking the user is forbidden; deprecated by Apple.
public nonisolated(unsafe) let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"

/// How to handle items for which the user must be asked.
public nonisolated(unsafe) let kSecUseAuthenticationUI: CFString = "u_AuthUI"

/// Ask the user.
public nonisolated(unsafe) let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"

/// Fail with ``errSecInteractionNotAllowed``.
public nonisolated(unsafe) let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"

/// Skip such items.
public nonisolated(unsafe) let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"

/// An authentication context, whose texts are shown and whose authentication is used.
public nonisolated(unsafe) let kSecUseAuthenticationContext: CFString = "u_AuthCtx"

/// Whether to use the data protection keychain; ignored, since there is only one.
public nonisolated(unsafe) let kSecUseDataProtectionKeychain: CFString = "nleg"

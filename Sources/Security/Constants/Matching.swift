public import Foundation

// `nonisolated(unsafe)`: constants, of a class that cannot say that its immutable ones are Sendable.

/// How many items to find: one of the two below, or a number.
public nonisolated(unsafe) let kSecMatchLimit: CFString = "m_Limit"

/// One item, which is the default.
public nonisolated(unsafe) let kSecMatchLimitOne: CFString = "m_LimitOne"

/// All items, in an array.
public nonisolated(unsafe) let kSecMatchLimitAll: CFString = "m_LimitAll"

/// Whether texts match in either case.
public nonisolated(unsafe) let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"

/// A policy that certificates have to meet.
public nonisolated(unsafe) let kSecMatchPolicy: CFString = "m_Policy"

/// The items to search in.
public nonisolated(unsafe) let kSecMatchItemList: CFString = "m_ItemList"

/// The keychains to search in.
public nonisolated(unsafe) let kSecMatchSearchList: CFString = "m_SearchList"

/// Issuers in the chain of a certificate.
public nonisolated(unsafe) let kSecMatchIssuers: CFString = "m_Issuers"

/// An address in a certificate.
public nonisolated(unsafe) let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"

/// A text in the subject of a certificate.
public nonisolated(unsafe) let kSecMatchSubjectContains: CFString = "m_SubjectContains"

/// Whether a certificate has to be trusted.
public nonisolated(unsafe) let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"

/// A date on which a certificate is valid.
public nonisolated(unsafe) let kSecMatchValidOnDate: CFString = "m_ValidOnDate"

public import Foundation

// `nonisolated(unsafe)`: constants, of a class that cannot say that its immutable ones are Sendable.

/// The items to work with.
public nonisolated(unsafe) let kSecUseItemList: CFString = "u_ItemList"

/// The keychain to work with, on macOS.
public nonisolated(unsafe) let kSecUseKeychain: CFString = "u_Keychain"

/// Why the user is asked.
public nonisolated(unsafe) let kSecUseOperationPrompt: CFString = "u_OpPrompt"

/// Whether the user may not be asked; deprecated by Apple.
public nonisolated(unsafe) let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"

/// What to do with items for which the user would have to be asked.
public nonisolated(unsafe) let kSecUseAuthenticationUI: CFString = "u_AuthUI"

/// Ask.
public nonisolated(unsafe) let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"

/// Fail with ``errSecInteractionNotAllowed``.
public nonisolated(unsafe) let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"

/// Leave such items out.
public nonisolated(unsafe) let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"

/// An authentication context, whose texts are shown and whose authentication counts.
public nonisolated(unsafe) let kSecUseAuthenticationContext: CFString = "u_AuthCtx"

/// Whether to use the data protection keychain; there is only one here.
public nonisolated(unsafe) let kSecUseDataProtectionKeychain: CFString = "nleg"

public import Foundation

// `nonisolated(unsafe)`: constants, of a class that cannot say that its immutable ones are Sendable.

/// While the session is not locked.
public nonisolated(unsafe) let kSecAttrAccessibleWhenUnlocked: CFString = "ak"

/// From the first unlock on.
public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"

/// Always; deprecated by Apple.
public nonisolated(unsafe) let kSecAttrAccessibleAlways: CFString = "dk"

/// While the session is not locked, and only as long as there is a passcode; never leaves this device.
public nonisolated(unsafe) let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"

/// While the session is not locked; never leaves this device.
public nonisolated(unsafe) let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"

/// From the first unlock on; never leaves this device.
public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"

/// Always; never leaves this device; deprecated by Apple.
public nonisolated(unsafe) let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"

public import Foundation

// `nonisolated(unsafe)`: immutable strings, whose class is not declared Sendable.

/// The key of the identifier.
public nonisolated(unsafe) let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"

/// The key of the name.
public nonisolated(unsafe) let kCFBundleNameKey: CFString! = "CFBundleName"

/// The key of the version of the build.
public nonisolated(unsafe) let kCFBundleVersionKey: CFString! = "CFBundleVersion"

/// The key of the program's file name.
public nonisolated(unsafe) let kCFBundleExecutableKey: CFString! = "CFBundleExecutable"

/// The key of the version of the dictionary's format.
public nonisolated(unsafe) let kCFBundleInfoDictionaryVersionKey: CFString! = "CFBundleInfoDictionaryVersion"

/// The key of the original language.
public nonisolated(unsafe) let kCFBundleDevelopmentRegionKey: CFString! = "CFBundleDevelopmentRegion"

/// The key of the languages.
public nonisolated(unsafe) let kCFBundleLocalizationsKey: CFString! = "CFBundleLocalizations"

/// The bundle of the program.
public func CFBundleGetMainBundle() -> CFBundle! {
    Bundle.main
}

/// The identifier in a bundle's `Info.plist`; nil if there is none.
public func CFBundleGetIdentifier(_ bundle: CFBundle!) -> CFString! {
    bundle.bundleIdentifier as NSString?
}

/// The contents of a bundle's `Info.plist`.
public func CFBundleGetInfoDictionary(_ bundle: CFBundle!) -> CFDictionary! {
    (bundle.infoDictionary ?? [:]) as NSDictionary
}

/// A value of a bundle's `Info.plist`; nil if there is none.
public func CFBundleGetValueForInfoDictionaryKey(_ bundle: CFBundle!, _ key: CFString!) -> CFTypeRef! {
    bundle.object(forInfoDictionaryKey: key as String) as AnyObject?
}

public import Foundation

/// An error as an object.
public typealias CFError = NSError

/// The domain of an error.
public func CFErrorGetDomain(_ error: CFError!) -> CFString! {
    error.domain as NSString
}

/// The code of an error.
public func CFErrorGetCode(_ error: CFError!) -> CFIndex {
    error.code
}

/// The additional information of an error.
public func CFErrorCopyUserInfo(_ error: CFError!) -> CFDictionary! {
    error.userInfo as NSDictionary
}

/// The domain of an error.
public typealias CFErrorDomain = CFString

/// The domain of result codes such as ``errSecItemNotFound``.
public nonisolated(unsafe) let kCFErrorDomainOSStatus: CFErrorDomain! = NSOSStatusErrorDomain as NSString

/// The domain of `errno`.
public nonisolated(unsafe) let kCFErrorDomainPOSIX: CFErrorDomain! = NSPOSIXErrorDomain as NSString

/// The domain of Foundation.
public nonisolated(unsafe) let kCFErrorDomainCocoa: CFErrorDomain! = NSCocoaErrorDomain as NSString

/// The key of the description.
public nonisolated(unsafe) let kCFErrorLocalizedDescriptionKey: CFString! = NSLocalizedDescriptionKey as NSString

/// The key of the reason.
public nonisolated(unsafe) let kCFErrorLocalizedFailureReasonKey: CFString! =
    NSLocalizedFailureReasonErrorKey as NSString

/// The key of the error that caused another.
public nonisolated(unsafe) let kCFErrorUnderlyingErrorKey: CFString! = NSUnderlyingErrorKey as NSString

/// Creates an error.
public func CFErrorCreate(
    _ allocator: CFAllocator!,
    _ domain: CFErrorDomain!,
    _ code: CFIndex,
    _ userInfo: CFDictionary!
) -> CFError! {
    NSError(domain: domain as String, code: code, userInfo: userInfo as? [String: Any])
}

/// The description of an error.
public func CFErrorCopyDescription(_ err: CFError!) -> CFString! {
    err.localizedDescription as NSString
}

/// The reason of an error; nil if it has none.
public func CFErrorCopyFailureReason(_ err: CFError!) -> CFString! {
    err.localizedFailureReason as NSString?
}

/// How to recover from an error; nil if it does not say.
public func CFErrorCopyRecoverySuggestion(_ err: CFError!) -> CFString! {
    err.localizedRecoverySuggestion as NSString?
}

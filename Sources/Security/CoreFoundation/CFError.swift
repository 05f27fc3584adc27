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

/// What else an error tells.
public func CFErrorCopyUserInfo(_ error: CFError!) -> CFDictionary! {
    error.userInfo as NSDictionary
}

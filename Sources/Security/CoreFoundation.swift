@_exported public import Foundation

/// Any object.
public typealias CFTypeRef = AnyObject

/// Text; bridged to `String`.
public typealias CFString = NSString

/// A query or its result; bridged from `[String: Any]`.
public typealias CFDictionary = NSDictionary

/// A mutable dictionary.
public typealias CFMutableDictionary = NSMutableDictionary

/// An array.
public typealias CFArray = NSArray

/// Bytes.
public typealias CFData = NSData

/// A number.
public typealias CFNumber = NSNumber

/// A date.
public typealias CFDate = NSDate

/// A Boolean.
public typealias CFBoolean = NSNumber

/// True as an object.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: 1)

/// False as an object.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: 0)

/// Option bits.
public typealias CFOptionFlags = UInt

/// A count or an index.
public typealias CFIndex = Int

/// A memory allocator; there is only the default one.
public final class CFAllocator: Sendable {}

/// The default allocator.
public let kCFAllocatorDefault: CFAllocator! = nil

/// A result code: 0, or why a function failed.
public typealias OSStatus = Int32

/// Success.
public let noErr: OSStatus = 0

/// A pointer that receives an error.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

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

/// Makes a `CFString` equal to its `String` as an `AnyHashable` dictionary key, as on Apple's systems.
extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
    /// The bridged string.
    public func _toCustomAnyHashable() -> AnyHashable? {
        AnyHashable(self as String)
    }
}

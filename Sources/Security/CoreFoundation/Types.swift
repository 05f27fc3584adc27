@_exported public import Foundation

/// Any object.
public typealias CFTypeRef = AnyObject

/// Text; bridged to `String`.
public typealias CFString = NSString

/// Mutable text.
public typealias CFMutableString = NSMutableString

/// A query or its result; bridged from `[String: Any]`.
public typealias CFDictionary = NSDictionary

/// A mutable dictionary.
public typealias CFMutableDictionary = NSMutableDictionary

/// An array.
public typealias CFArray = NSArray

/// A mutable array.
public typealias CFMutableArray = NSMutableArray

/// Bytes.
public typealias CFData = NSData

/// Mutable bytes.
public typealias CFMutableData = NSMutableData

/// A number.
public typealias CFNumber = NSNumber

/// A date.
public typealias CFDate = NSDate

/// A Boolean.
public typealias CFBoolean = NSNumber

/// True as an object.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)

/// False as an object.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)

/// The null object.
public typealias CFNull = NSNull

/// The null object.
public let kCFNull: CFNull! = NSNull()

/// A URL.
public typealias CFURL = NSURL

/// A set.
public typealias CFSet = NSSet

/// A UUID.
public typealias CFUUID = NSUUID

/// A bundle.
public typealias CFBundle = Bundle

/// Option bits.
public typealias CFOptionFlags = UInt

/// A count or an index.
public typealias CFIndex = Int

/// A range of indices.
public struct CFRange: Hashable, Sendable {
    /// The first index.
    public var location: CFIndex

    /// The number of indices.
    public var length: CFIndex

    /// Creates an empty range at 0.
    public init() {
        self.init(location: 0, length: 0)
    }

    /// Creates a range.
    public init(location: CFIndex, length: CFIndex) {
        self.location = location
        self.length = length
    }
}

/// Creates a range.
public func CFRangeMake(_ loc: CFIndex, _ len: CFIndex) -> CFRange {
    CFRange(location: loc, length: len)
}

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

/// Makes a `CFString` equal to its `String` as an `AnyHashable` dictionary key, as on Apple's systems.
extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
    /// The bridged string.
    public func _toCustomAnyHashable() -> AnyHashable? {
        AnyHashable(self as String)
    }
}

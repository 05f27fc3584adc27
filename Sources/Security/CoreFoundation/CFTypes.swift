public import Foundation

/// Any object: what results are given as, and some arguments are taken as.
public typealias CFTypeRef = AnyObject

/// Text; `as String` makes it Swift's own.
public typealias CFString = NSString

/// A query or its result; `[String: Any] as CFDictionary` is Swift's own bridging.
public typealias CFDictionary = NSDictionary

/// A query that can be changed.
public typealias CFMutableDictionary = NSMutableDictionary

/// Several results.
public typealias CFArray = NSArray

/// Bytes.
public typealias CFData = NSData

/// A number.
public typealias CFNumber = NSNumber

/// A point in time.
public typealias CFDate = NSDate

/// True or false.
public typealias CFBoolean = NSNumber

/// True, as a query takes it.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: 1)

/// False, as a query takes it.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: 0)

/// Bits of options.
public typealias CFOptionFlags = UInt

/// A number of things, or which of them.
public typealias CFIndex = Int

/// Chooses how memory is got on Apple's systems; here there is one way.
public final class CFAllocator: Sendable {}

/// The only allocator.
public let kCFAllocatorDefault: CFAllocator! = nil

/// What a function of this module answers: 0, or why it has failed.
public typealias OSStatus = Int32

/// Success.
public let noErr: OSStatus = 0

/// Where a function puts an error.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

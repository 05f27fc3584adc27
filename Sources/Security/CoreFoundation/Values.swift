public import Foundation

// MARK: Data

extension NSData {
    /// The bytes; `as Data` takes as many calls as there are bytes.
    var contents: [UInt8] { [UInt8](UnsafeRawBufferPointer(start: bytes, count: length)) }
}

/// Copies bytes.
public func CFDataCreate(_ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex) -> CFData! {
    NSData(bytes: bytes, length: max(0, length))
}

/// Creates empty data.
public func CFDataCreateMutable(_ allocator: CFAllocator!, _ capacity: CFIndex) -> CFMutableData! {
    NSMutableData()
}

/// Copies data.
public func CFDataCreateCopy(_ allocator: CFAllocator!, _ theData: CFData!) -> CFData! {
    NSData(bytes: theData.bytes, length: theData.length)
}

/// The number of bytes.
public func CFDataGetLength(_ theData: CFData!) -> CFIndex {
    theData.length
}

/// The bytes, valid as long as the data.
public func CFDataGetBytePtr(_ theData: CFData!) -> UnsafePointer<UInt8>! {
    theData.bytes.assumingMemoryBound(to: UInt8.self)
}

/// The bytes of mutable data, valid until its length changes.
public func CFDataGetMutableBytePtr(_ theData: CFMutableData!) -> UnsafeMutablePointer<UInt8>! {
    theData.mutableBytes.assumingMemoryBound(to: UInt8.self)
}

/// Copies a range of the bytes, as far as it is within the data.
public func CFDataGetBytes(_ theData: CFData!, _ range: CFRange, _ buffer: UnsafeMutablePointer<UInt8>!) {
    let start = min(max(0, range.location), theData.length)
    let count = min(max(0, range.length), theData.length - start)
    theData.getBytes(buffer, range: NSRange(location: start, length: count))
}

/// Appends bytes.
public func CFDataAppendBytes(_ theData: CFMutableData!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex) {
    theData.append(bytes, length: max(0, length))
}

/// Sets the number of bytes; new ones are zero.
public func CFDataSetLength(_ theData: CFMutableData!, _ length: CFIndex) {
    theData.length = max(0, length)
}

// MARK: Booleans and numbers

/// The value of a Boolean.
public func CFBooleanGetValue(_ boolean: CFBoolean!) -> Bool {
    boolean.boolValue
}

/// The type of a number's value in memory.
public enum CFNumberType: CFIndex, Sendable {
    /// `Int8`.
    case sInt8Type = 1

    /// `Int16`.
    case sInt16Type = 2

    /// `Int32`.
    case sInt32Type = 3

    /// `Int64`.
    case sInt64Type = 4

    /// `Float`.
    case float32Type = 5

    /// `Double`.
    case float64Type = 6

    /// `CChar`.
    case charType = 7

    /// `CShort`.
    case shortType = 8

    /// `CInt`.
    case intType = 9

    /// `CLong`.
    case longType = 10

    /// `CLongLong`.
    case longLongType = 11

    /// `Float`.
    case floatType = 12

    /// `Double`.
    case doubleType = 13

    /// ``CFIndex``.
    case cfIndexType = 14

    /// `Int`.
    case nsIntegerType = 15

    /// `CGFloat`.
    case cgFloatType = 16
}

/// Creates a number from a value in memory.
public func CFNumberCreate(
    _ allocator: CFAllocator!,
    _ theType: CFNumberType,
    _ valuePtr: UnsafeRawPointer!
) -> CFNumber! {
    switch theType {
    case .sInt8Type, .charType: NSNumber(value: valuePtr.loadUnaligned(as: Int8.self))
    case .sInt16Type, .shortType: NSNumber(value: valuePtr.loadUnaligned(as: Int16.self))
    case .sInt32Type, .intType: NSNumber(value: valuePtr.loadUnaligned(as: Int32.self))
    case .sInt64Type, .longType, .longLongType, .cfIndexType, .nsIntegerType:
        NSNumber(value: valuePtr.loadUnaligned(as: Int64.self))
    case .float32Type, .floatType: NSNumber(value: valuePtr.loadUnaligned(as: Float.self))
    case .float64Type, .doubleType, .cgFloatType: NSNumber(value: valuePtr.loadUnaligned(as: Double.self))
    }
}

/// Stores the value of a number in memory; returns false if it was converted with a loss.
@discardableResult
public func CFNumberGetValue(
    _ number: CFNumber!,
    _ theType: CFNumberType,
    _ valuePtr: UnsafeMutableRawPointer!
) -> Bool {
    func store<Value: BitwiseCopyable>(_ value: Value, _ isExact: Bool) -> Bool {
        valuePtr.storeBytes(of: value, as: Value.self)
        return isExact
    }
    switch theType {
    case .sInt8Type, .charType: return store(number.int8Value, number == NSNumber(value: number.int8Value))
    case .sInt16Type, .shortType: return store(number.int16Value, number == NSNumber(value: number.int16Value))
    case .sInt32Type, .intType: return store(number.int32Value, number == NSNumber(value: number.int32Value))
    case .sInt64Type, .longType, .longLongType, .cfIndexType, .nsIntegerType:
        return store(number.int64Value, number == NSNumber(value: number.int64Value))
    case .float32Type, .floatType: return store(number.floatValue, number == NSNumber(value: number.floatValue))
    case .float64Type, .doubleType, .cgFloatType:
        return store(number.doubleValue, number == NSNumber(value: number.doubleValue))
    }
}

// MARK: Dates

/// Seconds.
public typealias CFTimeInterval = Double

/// Seconds since the beginning of 2001, in UTC.
public typealias CFAbsoluteTime = CFTimeInterval

/// The time between the beginnings of 1970 and 2001.
public let kCFAbsoluteTimeIntervalSince1970: CFTimeInterval = Date.timeIntervalBetween1970AndReferenceDate

/// The time.
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime {
    Date.timeIntervalSinceReferenceDate
}

/// Creates a date.
public func CFDateCreate(_ allocator: CFAllocator!, _ at: CFAbsoluteTime) -> CFDate! {
    NSDate(timeIntervalSinceReferenceDate: at)
}

/// The time of a date.
public func CFDateGetAbsoluteTime(_ theDate: CFDate!) -> CFAbsoluteTime {
    theDate.timeIntervalSinceReferenceDate
}

/// The time from one date to another.
public func CFDateGetTimeIntervalSinceDate(_ theDate: CFDate!, _ otherDate: CFDate!) -> CFTimeInterval {
    theDate.timeIntervalSinceReferenceDate - otherDate.timeIntervalSinceReferenceDate
}

/// Compares dates.
public func CFDateCompare(
    _ theDate: CFDate!,
    _ otherDate: CFDate!,
    _ context: UnsafeMutableRawPointer!
) -> CFComparisonResult {
    CFComparisonResult((theDate as Date).compare(otherDate as Date))
}

// MARK: UUIDs

/// Creates a random UUID.
public func CFUUIDCreate(_ alloc: CFAllocator!) -> CFUUID! {
    NSUUID()
}

/// Reads a UUID; nil if the text is not one.
public func CFUUIDCreateFromString(_ alloc: CFAllocator!, _ uuidStr: CFString!) -> CFUUID! {
    NSUUID(uuidString: uuidStr as String)
}

/// A UUID as text.
public func CFUUIDCreateString(_ alloc: CFAllocator!, _ uuid: CFUUID!) -> CFString! {
    uuid.uuidString as NSString
}

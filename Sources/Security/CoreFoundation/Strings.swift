public import Foundation

/// The number of a text encoding.
public typealias CFStringEncoding = UInt32

/// The encodings that are always there.
public enum CFStringBuiltInEncodings: CFStringEncoding, Sendable {
    /// Mac OS Roman.
    case macRoman = 0

    /// Windows-1252.
    case windowsLatin1 = 0x0500

    /// ISO 8859-1.
    case isoLatin1 = 0x0201

    /// NextStep.
    case nextStepLatin = 0x0B01

    /// ASCII.
    case ASCII = 0x0600

    /// UTF-8.
    case UTF8 = 0x0800_0100

    /// ASCII with escapes.
    case nonLossyASCII = 0x0BFF

    /// UTF-16, with a byte order mark.
    case UTF16 = 0x0100

    /// UTF-16, most significant byte first.
    case UTF16BE = 0x1000_0100

    /// UTF-16, least significant byte first.
    case UTF16LE = 0x1400_0100

    /// UTF-32, with a byte order mark.
    case UTF32 = 0x0C00_0100

    /// UTF-32, most significant byte first.
    case UTF32BE = 0x1800_0100

    /// UTF-32, least significant byte first.
    case UTF32LE = 0x1C00_0100

    /// UTF-16.
    public static var unicode: CFStringBuiltInEncodings { .UTF16 }

    fileprivate var encoding: String.Encoding {
        switch self {
        case .macRoman: .macOSRoman
        case .windowsLatin1: .windowsCP1252
        case .isoLatin1: .isoLatin1
        case .nextStepLatin: .nextstep
        case .ASCII: .ascii
        case .UTF8: .utf8
        case .nonLossyASCII: .nonLossyASCII
        case .UTF16: .utf16
        case .UTF16BE: .utf16BigEndian
        case .UTF16LE: .utf16LittleEndian
        case .UTF32: .utf32
        case .UTF32BE: .utf32BigEndian
        case .UTF32LE: .utf32LittleEndian
        }
    }
}

/// The order of two values.
public enum CFComparisonResult: CFIndex, Sendable {
    /// The first is smaller.
    case compareLessThan = -1

    /// They are equal.
    case compareEqualTo = 0

    /// The first is larger.
    case compareGreaterThan = 1

    init(_ result: ComparisonResult) {
        switch result {
        case .orderedAscending: self = .compareLessThan
        case .orderedSame: self = .compareEqualTo
        case .orderedDescending: self = .compareGreaterThan
        }
    }
}

/// Options of a comparison.
public struct CFStringCompareFlags: OptionSet, Sendable {
    /// The bits, as on Apple's systems.
    public let rawValue: CFOptionFlags

    /// Creates options from bits.
    public init(rawValue: CFOptionFlags) {
        self.rawValue = rawValue
    }

    /// Upper and lower case are equal.
    public static let compareCaseInsensitive = CFStringCompareFlags(rawValue: 1)

    /// Digits are compared as numbers.
    public static let compareNumerically = CFStringCompareFlags(rawValue: 64)
}

/// Creates a text from bytes up to a zero; nil if they are not text of the encoding, or the encoding is unknown.
public func CFStringCreateWithCString(
    _ alloc: CFAllocator!,
    _ cStr: UnsafePointer<CChar>!,
    _ encoding: CFStringEncoding
) -> CFString! {
    guard let encoding = stringEncoding(encoding) else { return nil }
    return String(cString: cStr, encoding: encoding) as NSString?
}

/// Creates a text from bytes; nil if they are not text of the encoding, or the encoding is unknown.
public func CFStringCreateWithBytes(
    _ alloc: CFAllocator!,
    _ bytes: UnsafePointer<UInt8>!,
    _ numBytes: CFIndex,
    _ encoding: CFStringEncoding,
    _ isExternalRepresentation: Bool
) -> CFString! {
    guard let encoding = stringEncoding(encoding), numBytes >= 0 else { return nil }
    return String(bytes: UnsafeBufferPointer(start: bytes, count: numBytes), encoding: encoding) as NSString?
}

/// Creates a text from bytes; nil if they are not text of the encoding, or the encoding is unknown.
public func CFStringCreateFromExternalRepresentation(
    _ alloc: CFAllocator!,
    _ data: CFData!,
    _ encoding: CFStringEncoding
) -> CFString! {
    guard let encoding = stringEncoding(encoding) else { return nil }
    return String(data: data as Data, encoding: encoding) as NSString?
}

/// The bytes of a text; nil if it cannot be encoded, unless `lossByte` is not zero.
public func CFStringCreateExternalRepresentation(
    _ alloc: CFAllocator!,
    _ theString: CFString!,
    _ encoding: CFStringEncoding,
    _ lossByte: UInt8
) -> CFData! {
    guard let encoding = stringEncoding(encoding) else { return nil }
    return (theString as String).data(using: encoding, allowLossyConversion: lossByte != 0) as NSData?
}

/// Copies a text.
public func CFStringCreateCopy(_ alloc: CFAllocator!, _ theString: CFString!) -> CFString! {
    (theString as String) as NSString
}

/// Copies a text into a mutable one.
public func CFStringCreateMutableCopy(
    _ alloc: CFAllocator!,
    _ maxLength: CFIndex,
    _ theString: CFString!
) -> CFMutableString! {
    NSMutableString(string: theString as String)
}

/// Appends a text.
public func CFStringAppend(_ theString: CFMutableString!, _ appendedString: CFString!) {
    theString.append(appendedString as String)
}

/// The number of UTF-16 units.
public func CFStringGetLength(_ theString: CFString!) -> CFIndex {
    theString.length
}

/// Copies a text with a final zero; returns false if it does not fit, or cannot be encoded.
public func CFStringGetCString(
    _ theString: CFString!,
    _ buffer: UnsafeMutablePointer<CChar>!,
    _ bufferSize: CFIndex,
    _ encoding: CFStringEncoding
) -> Bool {
    guard let encoding = stringEncoding(encoding),
        let bytes = (theString as String).data(using: encoding, allowLossyConversion: false), bytes.count < bufferSize
    else { return false }
    UnsafeMutableRawBufferPointer(start: buffer, count: bufferSize).copyBytes(from: bytes)
    buffer[bytes.count] = 0
    return true
}

/// The bytes of a text where they are at hand: always nil here, so use ``CFStringGetCString(_:_:_:_:)``.
public func CFStringGetCStringPtr(
    _ theString: CFString!,
    _ encoding: CFStringEncoding
) -> UnsafePointer<CChar>! {
    nil
}

/// The largest number of bytes that a text of a length can have.
public func CFStringGetMaximumSizeForEncoding(_ length: CFIndex, _ encoding: CFStringEncoding) -> CFIndex {
    // UTF-8 needs three bytes for some units of UTF-16, UTF-32 four and a mark.
    length.multipliedReportingOverflow(by: 4).partialValue + 4
}

/// Compares texts.
public func CFStringCompare(
    _ theString1: CFString!,
    _ theString2: CFString!,
    _ compareOptions: CFStringCompareFlags
) -> CFComparisonResult {
    let options = NSString.CompareOptions(rawValue: compareOptions.rawValue)
    return CFComparisonResult(theString1.compare(theString2 as String, options: options))
}

/// Whether a text begins with another.
public func CFStringHasPrefix(_ theString: CFString!, _ prefix: CFString!) -> Bool {
    (theString as String).hasPrefix(prefix as String)
}

/// Whether a text ends with another.
public func CFStringHasSuffix(_ theString: CFString!, _ suffix: CFString!) -> Bool {
    (theString as String).hasSuffix(suffix as String)
}

private func stringEncoding(_ encoding: CFStringEncoding) -> String.Encoding? {
    CFStringBuiltInEncodings(rawValue: encoding)?.encoding
}

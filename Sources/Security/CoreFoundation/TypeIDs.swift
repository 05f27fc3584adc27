public import Foundation

/// The number of a type.
public typealias CFTypeID = UInt

/// A hash of an object.
public typealias CFHashCode = UInt

/// The types with a number; the numbers are valid within a process only, as on Apple's systems.
private enum TypeID: CFTypeID {
    case object = 1
    case null, boolean, number, string, data, date, array, dictionary, set, url, uuid, error, bundle
    case key, certificate, identity, accessControl, keychainItem

    init(of object: AnyObject) {
        self =
            switch object {
            case is NSNull: .null
            // Foundation has one class for all its Booleans.
            case let number as NSNumber: type(of: number) == type(of: NSNumber(value: true)) ? .boolean : .number
            case is NSString: .string
            case is NSData: .data
            case is NSDate: .date
            case is NSArray: .array
            case is NSDictionary: .dictionary
            case is NSSet: .set
            case is NSURL: .url
            case is NSUUID: .uuid
            case is NSError: .error
            case is Bundle: .bundle
            #if Keys
            case is SecKey: .key
            case is SecCertificate: .certificate
            case is SecIdentity: .identity
            #endif
            case is SecAccessControl: .accessControl
            case is SecKeychainItem: .keychainItem
            default: .object
            }
    }
}

/// The number of an object's type.
public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID {
    TypeID(of: cf).rawValue
}

/// The type of ``kCFNull``.
public func CFNullGetTypeID() -> CFTypeID { TypeID.null.rawValue }

/// The type of ``CFBoolean``: ``kCFBooleanTrue``, or a number made of a `Bool`.
public func CFBooleanGetTypeID() -> CFTypeID { TypeID.boolean.rawValue }

/// The type of ``CFNumber``.
public func CFNumberGetTypeID() -> CFTypeID { TypeID.number.rawValue }

/// The type of ``CFString``.
public func CFStringGetTypeID() -> CFTypeID { TypeID.string.rawValue }

/// The type of ``CFData``.
public func CFDataGetTypeID() -> CFTypeID { TypeID.data.rawValue }

/// The type of ``CFDate``.
public func CFDateGetTypeID() -> CFTypeID { TypeID.date.rawValue }

/// The type of ``CFArray``.
public func CFArrayGetTypeID() -> CFTypeID { TypeID.array.rawValue }

/// The type of ``CFDictionary``.
public func CFDictionaryGetTypeID() -> CFTypeID { TypeID.dictionary.rawValue }

/// The type of ``CFSet``.
public func CFSetGetTypeID() -> CFTypeID { TypeID.set.rawValue }

/// The type of ``CFURL``.
public func CFURLGetTypeID() -> CFTypeID { TypeID.url.rawValue }

/// The type of ``CFUUID``.
public func CFUUIDGetTypeID() -> CFTypeID { TypeID.uuid.rawValue }

/// The type of ``CFError``.
public func CFErrorGetTypeID() -> CFTypeID { TypeID.error.rawValue }

/// The type of ``CFBundle``.
public func CFBundleGetTypeID() -> CFTypeID { TypeID.bundle.rawValue }

/// The type of ``SecKey``.
public func SecKeyGetTypeID() -> CFTypeID { TypeID.key.rawValue }

/// The type of ``SecCertificate``.
public func SecCertificateGetTypeID() -> CFTypeID { TypeID.certificate.rawValue }

/// The type of ``SecIdentity``.
public func SecIdentityGetTypeID() -> CFTypeID { TypeID.identity.rawValue }

/// The type of ``SecAccessControl``.
public func SecAccessControlGetTypeID() -> CFTypeID { TypeID.accessControl.rawValue }

/// The type of ``SecKeychainItem``.
public func SecKeychainItemGetTypeID() -> CFTypeID { TypeID.keychainItem.rawValue }

// MARK: Any object

/// Whether two objects are equal.
public func CFEqual(_ cf1: CFTypeRef!, _ cf2: CFTypeRef!) -> Bool {
    guard let cf1, let cf2, cf1 !== cf2 else { return cf1 === cf2 }
    if let object = cf1 as? NSObject { return object.isEqual(cf2) }
    guard let value = cf1 as? AnyHashable, let other = cf2 as? AnyHashable else { return false }
    return value == other
}

/// The hash of an object; equal objects have the same.
public func CFHash(_ cf: CFTypeRef!) -> CFHashCode {
    guard let cf else { return 0 }
    let hash = (cf as? NSObject)?.hash ?? (cf as? AnyHashable)?.hashValue ?? ObjectIdentifier(cf).hashValue
    return CFHashCode(bitPattern: hash)
}

/// A description for developers.
public func CFCopyDescription(_ cf: CFTypeRef!) -> CFString! {
    String(describing: cf as Any? ?? "nil") as NSString
}

/// Not available: Swift retains objects.
@available(*, unavailable, message: "Core Foundation objects are automatically memory managed")
public func CFRetain(_ cf: CFTypeRef!) -> CFTypeRef! { cf }

/// Not available: Swift releases objects.
@available(*, unavailable, message: "Core Foundation objects are automatically memory managed")
public func CFRelease(_ cf: CFTypeRef!) {}

/// Not available: Swift releases objects.
@available(*, unavailable, message: "Core Foundation objects are automatically memory managed")
public func CFAutorelease(_ arg: CFTypeRef!) -> CFTypeRef! { arg }

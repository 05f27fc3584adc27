import Foundation
import Security
import Testing

/// Core Foundation's functions, as code for Apple's keychain calls them.
struct CoreFoundationTests {
    @Test("Each object has the number of its type")
    func typeID_ofEachType() throws {
        let key = try Sample.key("ec256-private.bin")
        let certificate = try Sample.certificate("ec256")
        let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil)
        let types: [(AnyObject?, CFTypeID)] = [
            (kCFNull, CFNullGetTypeID()), (kCFBooleanTrue, CFBooleanGetTypeID()),
            (kCFBooleanFalse, CFBooleanGetTypeID()), (true as NSNumber, CFBooleanGetTypeID()),
            (1 as NSNumber, CFNumberGetTypeID()), (0.5 as NSNumber, CFNumberGetTypeID()),
            (NSNumber(value: Int8(1)), CFNumberGetTypeID()), (kSecClass, CFStringGetTypeID()),
            (NSMutableString(string: "a"), CFStringGetTypeID()), (NSMutableData(), CFDataGetTypeID()),
            (NSDate(), CFDateGetTypeID()), (NSMutableArray(), CFArrayGetTypeID()),
            (["a": 1] as CFDictionary, CFDictionaryGetTypeID()), (NSSet(), CFSetGetTypeID()),
            (NSURL(string: "a:b"), CFURLGetTypeID()), (NSUUID(), CFUUIDGetTypeID()),
            (NSError(domain: "a", code: 1), CFErrorGetTypeID()), (Bundle.main, CFBundleGetTypeID()),
            (key, SecKeyGetTypeID()), (certificate, SecCertificateGetTypeID()),
            (control, SecAccessControlGetTypeID()),
        ]
        for (object, type) in types {
            #expect(CFGetTypeID(object) == type, "\(String(describing: object))")
        }
        #expect(Set(types.map(\.1)).count == 16)
        #expect(SecIdentityGetTypeID() != SecKeychainItemGetTypeID())
    }

    @Test("Objects are equal by value, and have equal hashes then")
    func equal_byValue() throws {
        let pairs: [(AnyObject, AnyObject)] = [
            ("a" as NSString, NSMutableString(string: "a")), (1 as NSNumber, 1.0 as NSNumber),
            ([1] as NSArray, NSMutableArray(array: [1])),
            (try Sample.key("rsa-public.der"), try Sample.key("rsa-public.der")),
            (try Sample.certificate("rsa"), try Sample.certificate("rsa")),
        ]
        for (index, (left, right)) in pairs.enumerated() {
            #expect(CFEqual(left, right))
            #expect(CFHash(left) == CFHash(right))
            #expect(!CFEqual(left, pairs[(index + 1) % pairs.count].0))
        }
        #expect(!CFEqual(try Sample.key("rsa-public.der"), try Sample.key("ec256-public.bin")))
        #expect(CFEqual(nil, nil) && !CFEqual(nil, kCFNull))
    }

    @Test("A query is built by pointers, and its results are read by pointers")
    func dictionary_byPointers() throws {
        let pointer = Pointers()
        defer { withExtendedLifetime(pointer) {} }
        let query = try #require(CFDictionaryCreateMutable(nil, 0, nil, nil))
        let account = "anna" as CFString
        let secret = data("secret") as CFData
        CFDictionarySetValue(query, pointer(kSecClass), pointer(kSecClassGenericPassword))
        CFDictionaryAddValue(query, pointer(kSecAttrAccount), pointer(account))
        CFDictionaryAddValue(query, pointer(kSecAttrAccount), pointer(kSecClass))
        CFDictionaryReplaceValue(query, pointer(kSecAttrService), pointer(account))
        CFDictionarySetValue(query, pointer(kSecValueData), unsafeBitCast(secret, to: UnsafeRawPointer.self))
        CFDictionarySetValue(query, pointer(kSecReturnData), pointer(kCFBooleanTrue))
        #expect(CFDictionaryGetCount(query) == 4)
        #expect((query as NSDictionary as? [String: AnyObject])?[kSecAttrAccount as String] as? String == "anna")
        #expect(CFDictionaryContainsKey(query, pointer("acct" as NSString)))
        #expect(CFDictionaryContainsValue(query, pointer(data("secret") as NSData)))
        #expect(CFDictionaryGetValue(query, pointer(kSecAttrService)) == nil)
        let found = try #require(CFDictionaryGetValue(query, pointer(kSecValueData)))
        #expect(unsafeBitCast(found, to: CFData.self) as Data == data("secret"))
        #expect(CFDictionaryGetValue(query, pointer(kSecValueData)) == found)
        var value: UnsafeRawPointer?
        #expect(CFDictionaryGetValueIfPresent(query, pointer(kSecAttrAccount), &value))
        #expect(Unmanaged<CFString>.fromOpaque(try #require(value)).takeUnretainedValue() == "anna")
        let copy = try #require(CFDictionaryCreateCopy(nil, query))
        CFDictionaryRemoveValue(query, pointer(kSecAttrAccount))
        #expect(!CFDictionaryGetValueIfPresent(query, pointer(kSecAttrAccount), &value))
        #expect(CFDictionaryGetCount(copy) == 4)
        CFDictionaryRemoveAllValues(query)
        #expect(CFDictionaryGetCount(query) == 0)
    }

    @Test("A pointer from a container is valid as long as the container, however many there are")
    func containers_keepWhatTheyReturn() throws {
        let pointer = Pointers()
        defer { withExtendedLifetime(pointer) {} }
        let containers = (0..<1000).map { ["a": "text \($0)", "b": ["list \($0)"]] as CFDictionary }
        let pointers = containers.map { CFDictionaryGetValue($0, pointer("a" as NSString)) }
        let lists = containers.map { container -> UnsafeRawPointer? in
            guard let list = CFDictionaryGetValue(container, pointer("b" as NSString)) else { return nil }
            return CFArrayGetValueAtIndex(unsafeBitCast(list, to: CFArray.self), 0)
        }
        for (index, (text, entry)) in zip(pointers, lists).enumerated() {
            #expect(unsafeBitCast(try #require(text), to: CFString.self) as String == "text \(index)")
            #expect(unsafeBitCast(try #require(entry), to: CFString.self) as String == "list \(index)")
        }
        withExtendedLifetime(containers) {}
    }

    @Test("Keys, certificates and values that are no text are keys and values, too")
    func containers_ofAnyObject() throws {
        let pointer = Pointers()
        defer { withExtendedLifetime(pointer) {} }
        let key = try Sample.key("ec256-private.bin")
        var keys: [UnsafeRawPointer?] = [pointer("key" as NSString), pointer(7 as NSNumber)]
        var values: [UnsafeRawPointer?] = [pointer(key), pointer(try Sample.certificate("rsa"))]
        let dictionary = try #require(CFDictionaryCreate(nil, &keys, &values, 1, nil, nil))
        let found = try #require(CFDictionaryGetValue(dictionary, pointer("key" as NSString)))
        #expect(unsafeBitCast(found, to: SecKey.self) === key)
        let array = try #require(CFArrayCreate(nil, &values, 1, nil))
        #expect(CFArrayGetCount(array) == 1)
        #expect(unsafeBitCast(try #require(CFArrayGetValueAtIndex(array, 0)), to: SecKey.self) === key)
        #expect(CFArrayGetValueAtIndex(array, 1) == nil && CFArrayGetValueAtIndex(array, -1) == nil)
        #expect(CFArrayContainsValue(array, CFRangeMake(0, .max), pointer(key)))
        #expect(!CFArrayContainsValue(array, CFRangeMake(1, 5), pointer(key)))
        #expect(!CFArrayContainsValue(array, CFRangeMake(0, -1), pointer(key)))
        let mutable = try #require(CFArrayCreateMutableCopy(nil, 0, array))
        CFArrayAppendValue(mutable, pointer("a" as NSString))
        CFArrayRemoveValueAtIndex(mutable, 0)
        #expect(mutable == ["a"])
    }

    @Test("Text is created from bytes of the built-in encodings, or not at all")
    func strings_fromBytes() throws {
        let utf8 = CFStringBuiltInEncodings.UTF8.rawValue
        let made = try #require(CFStringCreateWithCString(nil, "Grüße", utf8))
        #expect(made == "Grüße" && CFStringGetLength(made) == 5)
        #expect(CFStringCreateWithCString(nil, "a", 12345) == nil)
        #expect(CFStringCreateWithBytes(nil, [0xff], 1, utf8, false) == nil)
        #expect(CFStringCreateWithBytes(nil, [0xe4], 1, CFStringBuiltInEncodings.isoLatin1.rawValue, false) == "ä")
        var buffer = [CChar](repeating: 1, count: 8)
        #expect(CFStringGetCString(made, &buffer, 8, utf8))
        #expect(buffer.map { UInt8(bitPattern: $0) } == Array("Grüße".utf8) + [0])
        #expect(CFStringGetCString("", &buffer, 1, utf8) && buffer[0] == 0)
        #expect(!CFStringGetCString("", &buffer, 0, utf8))
        #expect(!CFStringGetCString(made, &buffer, 7, utf8))
        #expect(!CFStringGetCString(made, &buffer, 8, CFStringBuiltInEncodings.ASCII.rawValue))
        #expect(CFStringCompare("a", "B", .compareCaseInsensitive) == .compareLessThan)
        #expect(CFStringCompare("a", "a", []) == .compareEqualTo)
    }

    @Test("Numbers are converted to their type in memory, and a loss is reported")
    func numbers_areConverted() throws {
        var wide = Int64(300)
        let number = try #require(CFNumberCreate(nil, .sInt64Type, &wide))
        var (int, byte, double) = (Int32(0), Int8(0), 0.0)
        #expect(CFNumberGetValue(number, .sInt32Type, &int) && int == 300)
        #expect(!CFNumberGetValue(number, .charType, &byte))
        #expect(CFNumberGetValue(number, .doubleType, &double) && double == 300)
        #expect(CFBooleanGetValue(kCFBooleanTrue) && !CFBooleanGetValue(kCFBooleanFalse))
    }

    @Test("Data is read within its bounds")
    func data_isReadWithinItsBounds() throws {
        let made = try #require(CFDataCreate(nil, [1, 2, 3], 3))
        var buffer: [UInt8] = [9, 9, 9, 9]
        CFDataGetBytes(made, CFRangeMake(1, 9), &buffer)
        #expect(buffer == [2, 3, 9, 9] && CFDataGetLength(made) == 3)
        CFDataGetBytes(made, CFRangeMake(7, 1), &buffer)
        #expect(buffer == [2, 3, 9, 9])
        #expect(try #require(CFDataGetBytePtr(made))[2] == 3)
    }

    @Test("An error has a description, a domain and a code")
    func error_hasItsParts() throws {
        var failure: Unmanaged<CFError>?
        #expect(SecAccessControlCreateWithFlags(nil, "nonsense" as CFString, [], &failure) == nil)
        let error = try #require(failure).takeRetainedValue()
        #expect(CFErrorGetDomain(error) == kCFErrorDomainOSStatus)
        #expect(CFErrorGetCode(error) == Int(errSecParam))
        #expect(CFErrorCopyDescription(error).length > 0)
        let made = CFErrorCreate(
            nil,
            kCFErrorDomainPOSIX,
            2,
            [kCFErrorLocalizedDescriptionKey as String: "none"] as CFDictionary
        )
        #expect(CFErrorCopyDescription(made) == "none" && CFErrorGetCode(made) == 2)
    }

    @Test("The bundle of a program without an Info.plist has no identifier")
    func bundle_withoutInfo() {
        #expect(CFBundleGetIdentifier(CFBundleGetMainBundle()) as String? == Bundle.main.bundleIdentifier)
        #expect(kCFBundleIdentifierKey as String == "CFBundleIdentifier")
    }

}

/// Makes pointers to objects, which it keeps for the test.
private final class Pointers {
    private var objects: [AnyObject] = []

    func callAsFunction(_ object: AnyObject) -> UnsafeRawPointer {
        objects.append(object)
        return UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    }
}

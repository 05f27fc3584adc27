public import Foundation

/// How a dictionary treats its keys; here they are always retained, and compared by value.
public struct CFDictionaryKeyCallBacks: Sendable {
    /// Creates the only treatment.
    public init() {}
}

/// How a dictionary treats its values; here they are always retained, and compared by value.
public struct CFDictionaryValueCallBacks: Sendable {
    /// Creates the only treatment.
    public init() {}
}

/// Objects as keys.
public let kCFTypeDictionaryKeyCallBacks = CFDictionaryKeyCallBacks()

/// Strings as keys.
public let kCFCopyStringDictionaryKeyCallBacks = CFDictionaryKeyCallBacks()

/// Objects as values.
public let kCFTypeDictionaryValueCallBacks = CFDictionaryValueCallBacks()

// MARK: Creating

/// Creates a dictionary of pointers to objects.
public func CFDictionaryCreate(
    _ allocator: CFAllocator!,
    _ keys: UnsafeMutablePointer<UnsafeRawPointer?>!,
    _ values: UnsafeMutablePointer<UnsafeRawPointer?>!,
    _ numValues: CFIndex,
    _ keyCallBacks: UnsafePointer<CFDictionaryKeyCallBacks>!,
    _ valueCallBacks: UnsafePointer<CFDictionaryValueCallBacks>!
) -> CFDictionary! {
    let made = NSMutableDictionary()
    for index in 0..<max(0, numValues) {
        CFDictionaryAddValue(made, keys[index], values[index])
    }
    return made.copy() as? NSDictionary
}

/// Creates an empty dictionary.
public func CFDictionaryCreateMutable(
    _ allocator: CFAllocator!,
    _ capacity: CFIndex,
    _ keyCallBacks: UnsafePointer<CFDictionaryKeyCallBacks>!,
    _ valueCallBacks: UnsafePointer<CFDictionaryValueCallBacks>!
) -> CFMutableDictionary! {
    NSMutableDictionary()
}

/// Copies a dictionary.
public func CFDictionaryCreateCopy(_ allocator: CFAllocator!, _ theDict: CFDictionary!) -> CFDictionary! {
    theDict.copy() as? NSDictionary
}

/// Copies a dictionary into a mutable one.
public func CFDictionaryCreateMutableCopy(
    _ allocator: CFAllocator!,
    _ capacity: CFIndex,
    _ theDict: CFDictionary!
) -> CFMutableDictionary! {
    theDict.mutableCopy() as? NSMutableDictionary
}

// MARK: Reading

/// The number of values.
public func CFDictionaryGetCount(_ theDict: CFDictionary!) -> CFIndex {
    theDict.count
}

/// Whether the dictionary has a key.
public func CFDictionaryContainsKey(_ theDict: CFDictionary!, _ key: UnsafeRawPointer!) -> Bool {
    theDict.object(forKey: ContainedObjects.object(key)) != nil
}

/// Whether the dictionary has a value.
public func CFDictionaryContainsValue(_ theDict: CFDictionary!, _ value: UnsafeRawPointer!) -> Bool {
    let wanted = ContainedObjects.object(value)
    return theDict.allValues.contains { CFEqual($0 as AnyObject, wanted) }
}

/// The value of a key, valid as long as the dictionary has it; nil if there is none.
public func CFDictionaryGetValue(_ theDict: CFDictionary!, _ key: UnsafeRawPointer!) -> UnsafeRawPointer! {
    let key = ContainedObjects.object(key)
    guard let value = theDict.object(forKey: key) else { return nil }
    return ContainedObjects.pointer(to: value, at: AnyHashable(HashableObject(key)), in: theDict)
}

/// Copies the pointer to the value of a key; returns whether there is one.
public func CFDictionaryGetValueIfPresent(
    _ theDict: CFDictionary!,
    _ key: UnsafeRawPointer!,
    _ value: UnsafeMutablePointer<UnsafeRawPointer?>!
) -> Bool {
    let found: UnsafeRawPointer? = CFDictionaryGetValue(theDict, key)
    if let found { value?.pointee = found }
    return found != nil
}

/// Copies pointers to all keys and values, valid as long as the dictionary has them.
public func CFDictionaryGetKeysAndValues(
    _ theDict: CFDictionary!,
    _ keys: UnsafeMutablePointer<UnsafeRawPointer?>!,
    _ values: UnsafeMutablePointer<UnsafeRawPointer?>!
) {
    for (index, key) in theDict.allKeys.enumerated() {
        let object = key as AnyObject
        keys?[index] = ContainedObjects.pointer(to: key, at: .init(KeyPlace(HashableObject(object))), in: theDict)
        guard let value = theDict.object(forKey: object) else { continue }
        values?[index] = ContainedObjects.pointer(to: value, at: .init(HashableObject(object)), in: theDict)
    }
}

// MARK: Changing

/// Adds a value, unless the key has one.
public func CFDictionaryAddValue(
    _ theDict: CFMutableDictionary!,
    _ key: UnsafeRawPointer!,
    _ value: UnsafeRawPointer!
) {
    if !CFDictionaryContainsKey(theDict, key) { CFDictionarySetValue(theDict, key, value) }
}

/// Sets the value of a key.
public func CFDictionarySetValue(
    _ theDict: CFMutableDictionary!,
    _ key: UnsafeRawPointer!,
    _ value: UnsafeRawPointer!
) {
    let (key, value) = (ContainedObjects.object(key), ContainedObjects.object(value))
    theDict[HashableObject(key).dictionaryKey] = value
}

/// Replaces the value of a key, if it has one.
public func CFDictionaryReplaceValue(
    _ theDict: CFMutableDictionary!,
    _ key: UnsafeRawPointer!,
    _ value: UnsafeRawPointer!
) {
    if CFDictionaryContainsKey(theDict, key) { CFDictionarySetValue(theDict, key, value) }
}

/// Removes the value of a key.
public func CFDictionaryRemoveValue(_ theDict: CFMutableDictionary!, _ key: UnsafeRawPointer!) {
    theDict.removeObject(forKey: ContainedObjects.object(key))
}

/// Removes all values.
public func CFDictionaryRemoveAllValues(_ theDict: CFMutableDictionary!) {
    theDict.removeAllObjects()
}

/// An object compared as ``CFEqual(_:_:)`` does.
private struct HashableObject: Hashable {
    let object: AnyObject

    init(_ object: AnyObject) {
        self.object = object
    }

    /// The object as a key of a dictionary.
    var dictionaryKey: AnyHashable { object as? AnyHashable ?? AnyHashable(self) }

    static func == (left: HashableObject, right: HashableObject) -> Bool {
        CFEqual(left.object, right.object)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(CFHash(object))
    }
}

/// The place of a key itself, beside that of its value.
private struct KeyPlace: Hashable {
    let key: HashableObject

    init(_ key: HashableObject) {
        self.key = key
    }
}

public import Foundation

/// How an array treats its values; here they are always retained, and compared by value.
public struct CFArrayCallBacks: Sendable {
    /// Creates the only treatment.
    public init() {}
}

/// Objects as values.
public let kCFTypeArrayCallBacks = CFArrayCallBacks()

/// Creates an array of pointers to objects.
public func CFArrayCreate(
    _ allocator: CFAllocator!,
    _ values: UnsafeMutablePointer<UnsafeRawPointer?>!,
    _ numValues: CFIndex,
    _ callBacks: UnsafePointer<CFArrayCallBacks>!
) -> CFArray! {
    let objects = (0..<max(0, numValues)).compactMap { index in values[index].map(ContainedObjects.object) }
    return objects as NSArray
}

/// Creates an empty array.
public func CFArrayCreateMutable(
    _ allocator: CFAllocator!,
    _ capacity: CFIndex,
    _ callBacks: UnsafePointer<CFArrayCallBacks>!
) -> CFMutableArray! {
    NSMutableArray()
}

/// Copies an array.
public func CFArrayCreateCopy(_ allocator: CFAllocator!, _ theArray: CFArray!) -> CFArray! {
    NSArray(array: theArray.map { $0 })
}

/// Copies an array into a mutable one.
public func CFArrayCreateMutableCopy(
    _ allocator: CFAllocator!,
    _ capacity: CFIndex,
    _ theArray: CFArray!
) -> CFMutableArray! {
    NSMutableArray(array: theArray.map { $0 })
}

/// The number of values.
public func CFArrayGetCount(_ theArray: CFArray!) -> CFIndex {
    theArray.count
}

/// The value at an index, valid as long as the array has it; nil outside of the bounds.
public func CFArrayGetValueAtIndex(_ theArray: CFArray!, _ idx: CFIndex) -> UnsafeRawPointer! {
    guard (0..<theArray.count).contains(idx) else { return nil }
    return ContainedObjects.pointer(to: theArray.object(at: idx), at: idx, in: theArray)
}

/// Whether a range of the array has a value.
public func CFArrayContainsValue(_ theArray: CFArray!, _ range: CFRange, _ value: UnsafeRawPointer!) -> Bool {
    CFArrayGetFirstIndexOfValue(theArray, range, value) >= 0
}

/// The first index of a value in a range of the array; -1 if there is none.
public func CFArrayGetFirstIndexOfValue(
    _ theArray: CFArray!,
    _ range: CFRange,
    _ value: UnsafeRawPointer!
) -> CFIndex {
    let wanted = ContainedObjects.object(value)
    let end = range.location.addingReportingOverflow(max(0, range.length)).partialValue
    let indices = (0..<theArray.count).clamped(to: range.location..<max(range.location, end))
    return indices.first { CFEqual(theArray.object(at: $0) as AnyObject, wanted) } ?? -1
}

/// Appends a value.
public func CFArrayAppendValue(_ theArray: CFMutableArray!, _ value: UnsafeRawPointer!) {
    theArray.add(ContainedObjects.object(value))
}

/// Removes the value at an index.
public func CFArrayRemoveValueAtIndex(_ theArray: CFMutableArray!, _ idx: CFIndex) {
    theArray.removeObject(at: idx)
}

/// Removes all values.
public func CFArrayRemoveAllValues(_ theArray: CFMutableArray!) {
    theArray.removeAllObjects()
}

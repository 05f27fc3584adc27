import Foundation
import Synchronization

/// Objects behind the pointers that functions such as ``CFDictionaryGetValue(_:_:)`` return.
///
/// Foundation's containers make a new object of bridged contents, such as a string, at each access, and nothing keeps
/// it. These are kept as long as the container, as on Apple's systems.
enum ContainedObjects {
    fileprivate struct Contents {
        weak var container: NSObject?
        var objects: [AnyHashable: AnyObject] = [:]
    }

    // `@unchecked Sendable`: the objects are used only behind the lock; the programs share them as they do.
    fileprivate struct Table: @unchecked Sendable {
        var contents: [ObjectIdentifier: Contents] = [:]
        /// The number of containers at which those that are gone are dropped.
        var limit = 16
    }

    private static let table = Mutex(Table())

    /// The pointer to a value in a container.
    ///
    /// - Parameter key: the place of the value.
    static func pointer(to value: Any, at key: AnyHashable, in container: NSObject) -> UnsafeRawPointer {
        let object = value as AnyObject
        // The container itself keeps objects that are not bridged.
        guard !(type(of: value) is AnyClass) else { return opaque(object) }
        nonisolated(unsafe) let (given, place, owner) = (object, key, container)
        let address = table.withLock { table in
            UInt(bitPattern: opaque(table.keep(given, at: place, in: owner)))
        }
        return UnsafeRawPointer(bitPattern: address) ?? opaque(object)
    }

    /// The object behind a pointer.
    static func object(_ pointer: UnsafeRawPointer) -> AnyObject {
        Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
    }

    private static func opaque(_ object: AnyObject) -> UnsafeRawPointer {
        UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    }
}

extension ContainedObjects.Table {
    /// Keeps an object, and returns it or the equal one that was kept before.
    fileprivate mutating func keep(_ object: AnyObject, at key: AnyHashable, in container: NSObject) -> AnyObject {
        let id = ObjectIdentifier(container)
        if contents[id]?.container !== container {
            if contents.count >= limit {
                contents = contents.filter { $0.value.container != nil }
                limit = max(16, 2 * contents.count)
            }
            contents[id] = ContainedObjects.Contents(container: container)
        }
        if let kept = contents[id]?.objects[key], CFEqual(kept, object) { return kept }
        contents[id]?.objects[key] = object
        return object
    }
}

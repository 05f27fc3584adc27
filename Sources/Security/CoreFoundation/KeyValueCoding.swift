public import Foundation

// Foundation on Linux has little of the key-value coding with which older code fills its queries.

#if compiler(<6.3.1)
extension NSDictionary {
    /// The value of a key; nil without one.
    public func value(forKey key: String) -> Any? {
        object(forKey: key)
    }
}
#endif

extension NSMutableDictionary {
    /// Sets the value of a key, or removes it for nil.
    public func setValue(_ value: Any?, forKey key: String) {
        guard let value else { return removeObject(forKey: key) }
        setObject(value, forKey: key as NSString)
    }
}

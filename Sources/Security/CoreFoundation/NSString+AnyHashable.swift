public import Foundation

/// Lets a `CFString` be looked up in a dictionary whose keys are `AnyHashable`, as on Apple's systems, where it equals the `String`.
extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
    /// The same as Swift's own string.
    public func _toCustomAnyHashable() -> AnyHashable? {
        AnyHashable(self as String)
    }
}

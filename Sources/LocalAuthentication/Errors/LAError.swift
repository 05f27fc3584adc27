public import Foundation

/// The domain of an authentication's errors.
public let LAErrorDomain = "com.apple.LocalAuthentication"

/// Why an authentication has come to nothing.
///
/// What ``LAContext`` throws and hands out is an `NSError` of ``LAErrorDomain``, which can be caught as either.
public struct LAError: _BridgedStoredNSError, Hashable, Error {
    /// The same as an object.
    public let _nsError: NSError

    /// Takes an error of ``LAErrorDomain``.
    public init(_nsError: NSError) {
        self._nsError = _nsError
    }

    /// The domain of an authentication's errors.
    public static var _nsErrorDomain: String { LAErrorDomain }

    /// The domain of an authentication's errors.
    public static var errorDomain: String { LAErrorDomain }

    /// Compares the codes only.
    public static func == (left: LAError, right: LAError) -> Bool {
        left.code == right.code
    }

    /// Feeds the code only.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
    }
}

/// Lets an `NSError` be cast to it where there is no Objective-C to do that.
extension LAError: _ObjectiveCBridgeable {
    /// The same as an object.
    public func _bridgeToObjectiveC() -> NSError {
        _nsError
    }

    /// Takes an error of ``LAErrorDomain``, and leaves another one out.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
        _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
    }

    /// Takes an error of ``LAErrorDomain``; false for another one.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) -> Bool {
        guard source.domain == LAErrorDomain, Code(rawValue: source.code) != nil else { return false }
        result = LAError(_nsError: source)
        return true
    }

    /// Takes an error, whatever its domain.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
        LAError(_nsError: source ?? NSError(domain: LAErrorDomain, code: Code.systemCancel.rawValue))
    }
}

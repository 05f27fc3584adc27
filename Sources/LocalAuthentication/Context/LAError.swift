public import Foundation

/// The error domain of authentication.
public let LAErrorDomain = "com.apple.LocalAuthentication"

/// A failed authentication.
///
/// ``LAContext`` throws and passes an `NSError` of ``LAErrorDomain``, which can be caught as either type.
public struct LAError: _BridgedStoredNSError, Hashable, Error {
    /// The error as an object.
    public let _nsError: NSError

    /// Wraps an error of ``LAErrorDomain``.
    public init(_nsError: NSError) {
        self._nsError = _nsError
    }

    /// The error domain of authentication.
    public static var _nsErrorDomain: String { LAErrorDomain }

    /// The error domain of authentication.
    public static var errorDomain: String { LAErrorDomain }

    /// Compares the codes only.
    public static func == (left: LAError, right: LAError) -> Bool {
        left.code == right.code
    }

    /// Hashes the code only.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
    }
}

/// Casts from `NSError`, which Objective-C does on Apple's systems.
extension LAError: _ObjectiveCBridgeable {
    /// The error as an object.
    public func _bridgeToObjectiveC() -> NSError {
        _nsError
    }

    /// Wraps an error of ``LAErrorDomain``; ignores any other.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
        _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
    }

    /// Wraps an error of ``LAErrorDomain``; returns false for any other.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) -> Bool {
        guard source.domain == LAErrorDomain, Code(rawValue: source.code) != nil else { return false }
        result = LAError(_nsError: source)
        return true
    }

    /// Wraps an error of any domain.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
        LAError(_nsError: source ?? NSError(domain: LAErrorDomain, code: Code.systemCancel.rawValue))
    }
}

extension LAError {
    /// The reason of a failed authentication, with Apple's numbers.
    @nonexhaustive
    public enum Code: Sendable, Hashable, _ErrorCodeProtocol {
        /// The error with such a code.
        public typealias _ErrorType = LAError

        /// The finger or password was wrong.
        case authenticationFailed

        /// The person cancelled.
        case userCancel

        /// The person pressed the fallback button.
        case userFallback

        /// The system ended it: the screen was locked, the keychain went away, or the time was over.
        case systemCancel

        /// No passcode is set.
        case passcodeNotSet

        /// No usable fingerprint reader is available.
        case biometryNotAvailable

        /// No finger is enrolled.
        case biometryNotEnrolled

        /// Too many touches did not match; the passcode unlocks the reader.
        case biometryLockout

        /// The program cancelled.
        case appCancel

        /// The context was invalidated.
        case invalidContext

        /// The reader is not paired; not used here.
        case biometryNotPaired

        /// The reader was disconnected.
        case biometryDisconnected

        /// A view has the wrong size; not used here.
        case invalidDimensions

        /// A person must be asked, which is forbidden or impossible.
        case notInteractive

        /// The value of ``companionNotAvailable``. As a case, a `switch` written before it would need it; as
        /// unavailable, none does.
        @available(*, unavailable, message: "Use companionNotAvailable")
        case companion
    }

    /// See ``Code/authenticationFailed``.
    public static var authenticationFailed: Code { .authenticationFailed }

    /// See ``Code/userCancel``.
    public static var userCancel: Code { .userCancel }

    /// See ``Code/userFallback``.
    public static var userFallback: Code { .userFallback }

    /// See ``Code/systemCancel``.
    public static var systemCancel: Code { .systemCancel }

    /// See ``Code/passcodeNotSet``.
    public static var passcodeNotSet: Code { .passcodeNotSet }

    /// See ``Code/biometryNotAvailable``.
    public static var biometryNotAvailable: Code { .biometryNotAvailable }

    /// See ``Code/biometryNotEnrolled``.
    public static var biometryNotEnrolled: Code { .biometryNotEnrolled }

    /// See ``Code/biometryLockout``.
    public static var biometryLockout: Code { .biometryLockout }

    /// See ``Code/appCancel``.
    public static var appCancel: Code { .appCancel }

    /// See ``Code/invalidContext``.
    public static var invalidContext: Code { .invalidContext }

    /// See ``Code/companionNotAvailable``.
    public static var companionNotAvailable: Code { .companionNotAvailable }

    /// See ``Code/biometryNotPaired``.
    public static var biometryNotPaired: Code { .biometryNotPaired }

    /// See ``Code/biometryDisconnected``.
    public static var biometryDisconnected: Code { .biometryDisconnected }

    /// See ``Code/invalidDimensions``.
    public static var invalidDimensions: Code { .invalidDimensions }

    /// See ``Code/notInteractive``.
    public static var notInteractive: Code { .notInteractive }
}

extension LAError.Code: RawRepresentable, CaseIterable {
    /// In the order of the cases.
    private static let numbers = [-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -12, -13, -14, -1004, -11]

    /// All codes.
    public static let allCases: [LAError.Code] = [
        .authenticationFailed, .userCancel, .userFallback, .systemCancel, .passcodeNotSet, .biometryNotAvailable,
        .biometryNotEnrolled, .biometryLockout, .appCancel, .invalidContext, .biometryNotPaired, .biometryDisconnected,
        .invalidDimensions, .notInteractive, .companionNotAvailable,
    ]

    /// No paired device is available: there are none here.
    public static var companionNotAvailable: LAError.Code {
        // The only way to an unavailable case, which `ErrorTests` holds.
        unsafeBitCast(UInt8(numbers.count - 1), to: LAError.Code.self)
    }

    /// Creates a code from Apple's number.
    public init?(rawValue: Int) {
        guard let index = LAError.Code.numbers.firstIndex(of: rawValue) else { return nil }
        self = LAError.Code.allCases[index]
    }

    /// Apple's number.
    public var rawValue: Int {
        LAError.Code.numbers[Int(unsafeBitCast(self, to: UInt8.self))]
    }
}

/// Older names, as on Apple's systems.
extension LAError.Code {
    /// The older name of ``biometryNotAvailable``.
    @available(*, deprecated, renamed: "biometryNotAvailable")
    public static var touchIDNotAvailable: LAError.Code { .biometryNotAvailable }

    /// The older name of ``biometryNotEnrolled``.
    @available(*, deprecated, renamed: "biometryNotEnrolled")
    public static var touchIDNotEnrolled: LAError.Code { .biometryNotEnrolled }

    /// The older name of ``biometryLockout``.
    @available(*, deprecated, renamed: "biometryLockout")
    public static var touchIDLockout: LAError.Code { .biometryLockout }

    /// The older name of ``companionNotAvailable``.
    @available(*, deprecated, renamed: "companionNotAvailable")
    public static var watchNotAvailable: LAError.Code { .companionNotAvailable }
}

extension LAError {
    /// The older name of ``biometryNotAvailable``.
    @available(*, deprecated, renamed: "biometryNotAvailable")
    public static var touchIDNotAvailable: Code { .biometryNotAvailable }

    /// The older name of ``biometryNotEnrolled``.
    @available(*, deprecated, renamed: "biometryNotEnrolled")
    public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }

    /// The older name of ``biometryLockout``.
    @available(*, deprecated, renamed: "biometryLockout")
    public static var touchIDLockout: Code { .biometryLockout }

    /// The older name of ``companionNotAvailable``.
    @available(*, deprecated, renamed: "companionNotAvailable")
    public static var watchNotAvailable: Code { .companionNotAvailable }
}

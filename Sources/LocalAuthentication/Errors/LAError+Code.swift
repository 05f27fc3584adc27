public import Foundation

extension LAError {
    /// Why an authentication has come to nothing, by Apple's numbers.
    @nonexhaustive
    public enum Code: Int, Sendable, Hashable, CaseIterable, _ErrorCodeProtocol {
        /// The error that has such a code.
        public typealias _ErrorType = LAError

        /// What was given was wrong: another finger, another password.
        case authenticationFailed = -1

        /// The person has cancelled.
        case userCancel = -2

        /// The person has pressed the fallback button.
        case userFallback = -3

        /// Something else has ended it: the screen was locked, the keychain has gone, time ran out.
        case systemCancel = -4

        /// There is no passcode.
        case passcodeNotSet = -5

        /// There is no fingerprint reader, or nothing that could use it.
        case biometryNotAvailable = -6

        /// No finger is enrolled.
        case biometryNotEnrolled = -7

        /// Too many touches did not match; the passcode has to be given first.
        case biometryLockout = -8

        /// The program has cancelled.
        case appCancel = -9

        /// The context was invalidated.
        case invalidContext = -10

        /// The reader would have to be paired; none here is.
        case biometryNotPaired = -12

        /// The reader is gone.
        case biometryDisconnected = -13

        /// A view has the wrong size; never here.
        case invalidDimensions = -14

        /// A person would have to be asked, which is not allowed or not possible.
        case notInteractive = -1004
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

    /// See ``Code/biometryNotPaired``.
    public static var biometryNotPaired: Code { .biometryNotPaired }

    /// See ``Code/biometryDisconnected``.
    public static var biometryDisconnected: Code { .biometryDisconnected }

    /// See ``Code/invalidDimensions``.
    public static var invalidDimensions: Code { .invalidDimensions }

    /// See ``Code/notInteractive``.
    public static var notInteractive: Code { .notInteractive }
}

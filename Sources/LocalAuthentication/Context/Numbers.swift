// The numbers of Apple's header, by which programs compare the codes of an NSError.

// MARK: Errors

/// The number of ``LAError/Code/authenticationFailed``.
public let kLAErrorAuthenticationFailed: Int32 = -1

/// The number of ``LAError/Code/userCancel``.
public let kLAErrorUserCancel: Int32 = -2

/// The number of ``LAError/Code/userFallback``.
public let kLAErrorUserFallback: Int32 = -3

/// The number of ``LAError/Code/systemCancel``.
public let kLAErrorSystemCancel: Int32 = -4

/// The number of ``LAError/Code/passcodeNotSet``.
public let kLAErrorPasscodeNotSet: Int32 = -5

/// The number of ``LAError/Code/biometryNotAvailable``.
public let kLAErrorBiometryNotAvailable: Int32 = -6

/// The number of ``LAError/Code/biometryNotEnrolled``.
public let kLAErrorBiometryNotEnrolled: Int32 = -7

/// The number of ``LAError/Code/biometryLockout``.
public let kLAErrorBiometryLockout: Int32 = -8

/// The number of ``LAError/Code/appCancel``.
public let kLAErrorAppCancel: Int32 = -9

/// The number of ``LAError/Code/invalidContext``.
public let kLAErrorInvalidContext: Int32 = -10

/// The number of ``LAError/Code/companionNotAvailable``.
public let kLAErrorCompanionNotAvailable: Int32 = -11

/// The number of ``LAError/Code/biometryNotPaired``.
public let kLAErrorBiometryNotPaired: Int32 = -12

/// The number of ``LAError/Code/biometryDisconnected``.
public let kLAErrorBiometryDisconnected: Int32 = -13

/// The number of ``LAError/Code/invalidDimensions``.
public let kLAErrorInvalidDimensions: Int32 = -14

/// The number of ``LAError/Code/notInteractive``.
public let kLAErrorNotInteractive: Int32 = -1004

/// The older name of ``kLAErrorBiometryNotAvailable``.
@available(*, deprecated, renamed: "kLAErrorBiometryNotAvailable")
public let kLAErrorTouchIDNotAvailable: Int32 = kLAErrorBiometryNotAvailable

/// The older name of ``kLAErrorBiometryNotEnrolled``.
@available(*, deprecated, renamed: "kLAErrorBiometryNotEnrolled")
public let kLAErrorTouchIDNotEnrolled: Int32 = kLAErrorBiometryNotEnrolled

/// The older name of ``kLAErrorBiometryLockout``.
@available(*, deprecated, renamed: "kLAErrorBiometryLockout")
public let kLAErrorTouchIDLockout: Int32 = kLAErrorBiometryLockout

/// The older name of ``kLAErrorCompanionNotAvailable``.
@available(*, deprecated, renamed: "kLAErrorCompanionNotAvailable")
public let kLAErrorWatchNotAvailable: Int32 = kLAErrorCompanionNotAvailable

// MARK: Policies

/// The number of ``LAPolicy/deviceOwnerAuthenticationWithBiometrics``.
public let kLAPolicyDeviceOwnerAuthenticationWithBiometrics: Int32 = 1

/// The number of ``LAPolicy/deviceOwnerAuthentication``.
public let kLAPolicyDeviceOwnerAuthentication: Int32 = 2

/// The number of ``LAPolicy/deviceOwnerAuthenticationWithCompanion``.
public let kLAPolicyDeviceOwnerAuthenticationWithCompanion: Int32 = 3

/// The number of ``LAPolicy/deviceOwnerAuthenticationWithBiometricsOrCompanion``.
public let kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion: Int32 = 4

/// The older name of ``kLAPolicyDeviceOwnerAuthenticationWithCompanion``.
@available(*, deprecated, renamed: "kLAPolicyDeviceOwnerAuthenticationWithCompanion")
public let kLAPolicyDeviceOwnerAuthenticationWithWatch: Int32 = kLAPolicyDeviceOwnerAuthenticationWithCompanion

/// The older name of ``kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion``.
@available(*, deprecated, renamed: "kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion")
public let kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrWatch: Int32 =
    kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion

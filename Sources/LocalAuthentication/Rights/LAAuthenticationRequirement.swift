/// The authentication that a right requires.
public final class LAAuthenticationRequirement: Sendable {
    /// A finger or the passcode.
    public static let `default` = LAAuthenticationRequirement("userPresence")

    /// Any enrolled finger, including fingers enrolled later.
    public static let biometry = LAAuthenticationRequirement("biometryAny")

    /// One of the fingers that are enrolled when the right is stored.
    public static let biometryCurrentSet = LAAuthenticationRequirement("biometryCurrentSet")

    /// A finger or the fallback.
    public static func biometry(fallback: LABiometryFallbackRequirement) -> LAAuthenticationRequirement {
        LAAuthenticationRequirement("biometryAny or devicePasscode")
    }

    /// The access control expression.
    let expression: String

    init(_ expression: String) {
        self.expression = expression
    }

    /// The closest policy, which selects error codes.
    var policy: LAPolicy {
        ["biometryAny", "biometryCurrentSet"].contains(expression)
            ? .deviceOwnerAuthenticationWithBiometrics : .deviceOwnerAuthentication
    }
}

/// The alternative to a finger.
public final class LABiometryFallbackRequirement: Sendable {
    /// The default: the passcode.
    public static let `default` = LABiometryFallbackRequirement()

    /// The passcode.
    public static let devicePasscode = LABiometryFallbackRequirement()

    private init() {}
}

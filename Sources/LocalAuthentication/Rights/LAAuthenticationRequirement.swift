/// What has to be proved for a right.
public final class LAAuthenticationRequirement: Sendable {
    /// A finger, or the passcode.
    public static let `default` = LAAuthenticationRequirement("userPresence")

    /// A finger, also one that is enrolled later.
    public static let biometry = LAAuthenticationRequirement("biometryAny")

    /// A finger of those that are enrolled when the right is saved.
    public static let biometryCurrentSet = LAAuthenticationRequirement("biometryCurrentSet")

    /// A finger, or what may be proved instead.
    public static func biometry(fallback: LABiometryFallbackRequirement) -> LAAuthenticationRequirement {
        LAAuthenticationRequirement("biometryAny or devicePasscode")
    }

    /// The same in the words of access control.
    let expression: String

    /// Takes what has to be proved, as the keychain writes it.
    init(_ expression: String) {
        self.expression = expression
    }

    /// The policy that is nearest to it, for errors.
    var policy: LAPolicy {
        ["biometryAny", "biometryCurrentSet"].contains(expression)
            ? .deviceOwnerAuthenticationWithBiometrics : .deviceOwnerAuthentication
    }
}

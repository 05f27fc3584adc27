import Security

/// What has to be proved for a right.
public final class LAAuthenticationRequirement: Sendable {
    /// A finger, or the passcode.
    public static let `default` = LAAuthenticationRequirement("userPresence", .userPresence)

    /// A finger, also one that is enrolled later.
    public static let biometry = LAAuthenticationRequirement("biometryAny", .biometryAny)

    /// A finger of those that are enrolled when the right is saved.
    public static let biometryCurrentSet = LAAuthenticationRequirement("biometryCurrentSet", .biometryCurrentSet)

    /// A finger, or what may be proved instead.
    public static func biometry(fallback: LABiometryFallbackRequirement) -> LAAuthenticationRequirement {
        LAAuthenticationRequirement("biometryAny or devicePasscode", [.biometryAny, .or, .devicePasscode])
    }

    /// The same in the words of access control.
    let expression: String

    /// The same as it is asked for in an access control; nothing for a right that is saved already.
    let flags: SecAccessControlCreateFlags

    /// What a right that was saved asks for.
    init(_ expression: String, _ flags: SecAccessControlCreateFlags = []) {
        self.expression = expression
        self.flags = flags
    }

    /// The policy that is nearest to it, for errors.
    var policy: LAPolicy {
        ["biometryAny", "biometryCurrentSet"].contains(expression)
            ? .deviceOwnerAuthenticationWithBiometrics : .deviceOwnerAuthentication
    }
}

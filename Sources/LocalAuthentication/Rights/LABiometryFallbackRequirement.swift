/// What may be proved instead of a finger.
public final class LABiometryFallbackRequirement: Sendable {
    /// The usual: the passcode.
    public static let `default` = LABiometryFallbackRequirement()

    /// The passcode.
    public static let devicePasscode = LABiometryFallbackRequirement()

    private init() {}
}

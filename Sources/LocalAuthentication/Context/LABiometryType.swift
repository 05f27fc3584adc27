/// What a person can be recognised by.
@nonexhaustive
public enum LABiometryType: Int, Sendable {
    /// Nothing.
    case none = 0

    /// A finger; here with any reader that fprintd knows.
    case touchID = 1

    /// A face; never here.
    case faceID = 2
}

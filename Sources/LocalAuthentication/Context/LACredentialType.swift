/// What a program can give instead of the person.
@nonexhaustive
public enum LACredentialType: Int, Sendable {
    /// The password of an item's own.
    case applicationPassword = 0
}

/// A reference to `login`, whose password is the passcode, for the other collections.
final class LoginReference {
    /// The collection; replaced when `login` is deleted.
    weak var collection: Collection?

    /// Whether there is a passcode.
    var hasPasscode: Bool { collection?.header?.hasPassword ?? false }
}

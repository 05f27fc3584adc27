/// What every collection may ask about `login`, whose password is the passcode.
///
/// It belongs to the isolation of its vault, as the collections do.
final class LoginReference {
    /// The collection; another one after login was deleted.
    weak var collection: Collection?

    /// Whether there is a passcode: login has a file with a password.
    var hasPasscode: Bool { collection?.header?.hasPassword ?? false }
}

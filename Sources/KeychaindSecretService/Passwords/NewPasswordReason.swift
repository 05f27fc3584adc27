import KeychaindLanguage

/// The reason for a new password.
enum NewPasswordReason {
    /// The keychain is new.
    case first

    /// The keychain is the first of the account, and opens when the person logs in.
    case firstOfLogin

    /// The old password was given.
    case changed

    /// The old password was forgotten, and a recovery key given.
    case forgotten

    /// The keychain keeps its other passwords.
    case further

    /// Whether the keychain has no password yet.
    var isFirst: Bool {
        switch self {
        case .first, .firstOfLogin: true
        case .changed, .forgotten, .further: false
        }
    }

    /// The texts of the dialog.
    func words(_ keychain: String) -> (title: Text, message: Text, description: Text, continueLabel: Text) {
        switch self {
        case .first:
            (
                Text("New Keychain"), Text("Choose a password for the keychain “\(keychain)”"),
                Text(
                    "Secrets will be kept in the keychain “\(keychain)”. Anyone who knows its password can read them."
                ),
                Text("Create")
            )
        case .firstOfLogin:
            (
                Text("New Keychain"), Text("Choose a password for the keychain “\(keychain)”"),
                Text(
                    """
                    Your passwords will be kept in it. Use your login password, so that the keychain opens when you \
                    log in. If you forget this password, nobody can read what is in the keychain. You can make a \
                    recovery key afterwards.
                    """
                ),
                Text("Create")
            )
        case .changed:
            (
                Text("Change Password"), Text("Choose a new password for the keychain “\(keychain)”"),
                Text("The old password will no longer work."), Text("Change")
            )
        case .forgotten:
            (
                Text("Change Password"), Text("Choose a new password for the keychain “\(keychain)”"),
                Text(
                    """
                    It was opened with a recovery key. Choose a new password. If it is your login password, the \
                    keychain opens when you log in.
                    """
                ),
                Text("Change")
            )
        case .further:
            (
                Text("New Password"), Text("Choose another password for the keychain “\(keychain)”"),
                Text("Each of its passwords opens it."), Text("Add")
            )
        }
    }
}

/// Why a keychain gets a password.
enum NewPasswordReason {
    /// It is new.
    case first

    /// The old one was given.
    case changed

    /// The old one was forgotten, and a recovery key used.
    case forgotten

    /// It is one beside others.
    case further

    /// The words of the dialog.
    func words(_ keychain: String) -> (title: String, message: String, description: String, continueLabel: String) {
        switch self {
        case .first:
            (
                "New Keychain", "Choose a password for the keychain “\(keychain)”",
                "Secrets will be kept in the keychain “\(keychain)”. Anyone who knows its password can read them.",
                "Create"
            )
        case .changed:
            (
                "Change Password", "Choose a new password for the keychain “\(keychain)”",
                "The old password will no longer work.", "Change"
            )
        case .forgotten:
            (
                "Change Password", "Choose a new password for the keychain “\(keychain)”",
                """
                It was opened with a recovery key. Choose a new password. If it is your login password, the keychain \
                opens when you log in.
                """,
                "Change"
            )
        case .further:
            (
                "New Password", "Choose another password for the keychain “\(keychain)”",
                "Each of its passwords opens it.", "Add"
            )
        }
    }
}

/// The reason for asking for a keychain's key.
enum KeyPurpose {
    case changePassword

    case addPassword

    case recoveryKey

    case host

    case securityKey

    /// The removal of the named key slot.
    case removal(of: String)

    /// The replacement of the keychain by a backup.
    case restoration
    /// The deletion of `login`.
    case deletion(LoginLoss)

    /// The headline of the dialog.
    func message(_ keychain: String) -> String {
        switch self {
        case .changePassword: "Change the password of the keychain “\(keychain)”"
        case .addPassword: "Add a password to the keychain “\(keychain)”"
        case .recoveryKey: "Make a recovery key for the keychain “\(keychain)”"
        case .host: "Let this computer open the keychain “\(keychain)”"
        case .securityKey: "Let a security key open the keychain “\(keychain)”"
        case .restoration: "Replace the keychain “\(keychain)” by the backup"
        case .removal(let slot): "Remove \(slot) from the keychain “\(keychain)”"
        case .deletion: "Delete the keychain “\(keychain)” for ever"
        }
    }

    /// The consequence of giving the key, in words.
    var consequence: String {
        switch self {
        case .changePassword: "Enter its current password. You will choose the new one next."
        case .addPassword: "Enter its current password. Anyone who knows the new one will be able to open it, too."
        case .recoveryKey: "Anyone who has the recovery key can open the keychain without its password."
        case .host: "It will be unlocked at every login, however you log in, without asking for a password."
        case .securityKey: "Plug in the security key. Anyone who has it will be able to open the keychain, too."
        case .restoration: "Enter the password that it has now."
        case .removal: "It will no longer open the keychain."
        case .deletion(let loss): "\(loss.text)\nEnter its password to delete it."
        }
    }

    /// The title of the dialog and the label of its button.
    var title: (text: String, button: String) {
        if case .deletion = self { ("Delete Keychain", "Delete") } else { ("Keychain Password", "Continue") }
    }
}

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

    /// The texts of the dialog.
    func words(_ keychain: String) -> (title: String, message: String, description: String, continueLabel: String) {
        switch self {
        case .first:
            (
                "New Keychain", "Choose a password for the keychain “\(keychain)”",
                "Secrets will be kept in the keychain “\(keychain)”. Anyone who knows its password can read them.",
                "Create"
            )
        case .firstOfLogin:
            (
                "New Keychain", "Choose a password for the keychain “\(keychain)”",
                """
                Your passwords will be kept in it. Use your login password, so that the keychain opens when you log \
                in. If you forget this password, nobody can read what is in the keychain. You can make a recovery key \
                afterwards.
                """,
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

import KeychaindLanguage

/// The reason for asking for a keychain's key.
enum KeyPurpose {
    case changePassword

    case addPassword

    case recoveryKey

    case host

    case securityKey

    /// The removal of the named key slot.
    case removal(of: Text)

    /// The replacement of the keychain by a backup.
    case restoration
    /// The deletion of `login`.
    case deletion(LoginLoss)

    /// The headline of the dialog.
    func message(_ keychain: String) -> Text {
        switch self {
        case .changePassword: Text("Change the password of the keychain “\(keychain)”")
        case .addPassword: Text("Add a password to the keychain “\(keychain)”")
        case .recoveryKey: Text("Make a recovery key for the keychain “\(keychain)”")
        case .host: Text("Let this computer open the keychain “\(keychain)”")
        case .securityKey: Text("Let a security key open the keychain “\(keychain)”")
        case .restoration: Text("Replace the keychain “\(keychain)” by the backup")
        case .removal(let slot): Text("Remove \(slot) from the keychain “\(keychain)”")
        case .deletion: Text("Delete the keychain “\(keychain)” for ever")
        }
    }

    /// The consequence of giving the key, in words.
    var consequence: Text {
        switch self {
        case .changePassword: Text("Enter its current password. You will choose the new one next.")
        case .addPassword:
            Text("Enter its current password. Anyone who knows the new one will be able to open it, too.")
        case .recoveryKey: Text("Anyone who has the recovery key can open the keychain without its password.")
        case .host: Text("It will be unlocked at every login, however you log in, without asking for a password.")
        case .securityKey:
            Text("Plug in the security key. Anyone who has it will be able to open the keychain, too.")
        case .restoration: Text("Enter the password that it has now.")
        case .removal: Text("It will no longer open the keychain.")
        case .deletion(let loss): .lines([loss.text, Text("Enter its password to delete it.")])
        }
    }

    /// The title of the dialog and the label of its button.
    var title: (text: Text, button: Text) {
        if case .deletion = self {
            (Text("Delete Keychain"), Text("Delete"))
        } else {
            (Text("Keychain Password"), Text("Continue"))
        }
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
                    Your passwords will be kept in it. Use your login password, so that the keychain opens when you log \
                    in. If you forget this password, nobody can read what is in the keychain. You can make a recovery key \
                    afterwards.
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
                    It was opened with a recovery key. Choose a new password. If it is your login password, the keychain \
                    opens when you log in.
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

import KeychaindLanguage

/// The reason for asking for a keychain's key.
enum KeyRequestReason {
    case changePassword

    case addPassword

    case recoveryKey

    case host

    case login

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
        case .login: Text("Let the login keychain open the keychain “\(keychain)”")
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
        case .login:
            Text("It will open whenever the login keychain does, as when you log in, without asking for its password.")
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

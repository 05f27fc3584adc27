/// What a person is asked for a key of a keychain for.
enum KeyPurpose {
    /// To change its password.
    case changePassword

    /// To add another password.
    case addPassword

    /// To make a recovery key.
    case recoveryKey

    /// To let the machine open it.
    case host

    /// To take a way to open it away, which is named.
    case removal(of: String)

    /// What stands out in the dialog.
    func message(_ keychain: String) -> String {
        switch self {
        case .changePassword: "Change the password of the keychain “\(keychain)”"
        case .addPassword: "Add a password to the keychain “\(keychain)”"
        case .recoveryKey: "Make a recovery key for the keychain “\(keychain)”"
        case .host: "Let this computer open the keychain “\(keychain)”"
        case .removal(let slot): "Remove \(slot) from the keychain “\(keychain)”"
        }
    }

    /// What comes of it.
    var consequence: String {
        switch self {
        case .changePassword: "Enter the password that it has now. You will choose the new one next."
        case .addPassword: "Enter the password that it has now. Whoever has the other one can then read it, too."
        case .recoveryKey: "Whoever has a recovery key can open the keychain without its password."
        case .host: "It will be unlocked without a question when you log in, in whatever way."
        case .removal: "It will not open the keychain any more."
        }
    }
}

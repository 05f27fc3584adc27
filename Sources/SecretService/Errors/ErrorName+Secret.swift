package import DBus

extension ErrorName {
    /// The object must be unlocked before this (#40).
    package static let isLocked = ErrorName(rawValue: "org.freedesktop.Secret.Error.IsLocked")

    /// The session does not exist, or is not the caller's (#41).
    package static let noSession = ErrorName(rawValue: "org.freedesktop.Secret.Error.NoSession")

    /// There is no such collection or item (#42).
    package static let noSuchObject = ErrorName(rawValue: "org.freedesktop.Secret.Error.NoSuchObject")

    /// The prompt was run before (#43).
    package static let alreadyExists = ErrorName(rawValue: "org.freedesktop.Secret.Error.AlreadyExists")

    /// The password is not that of the keychain, as gnome-keyring says it.
    package static let keyringDenied = ErrorName(rawValue: "org.gnome.keyring.Error.Denied")
}

/// A policy: the authentication that a program asks for.
@nonexhaustive
public enum LAPolicy: Int, Sendable {
    /// A finger only.
    case deviceOwnerAuthenticationWithBiometrics = 1

    /// A finger or the passcode, which is the password of the login keychain.
    case deviceOwnerAuthentication = 2
}

extension LAPolicy {
    var name: String {
        switch self {
        case .deviceOwnerAuthenticationWithBiometrics: "deviceOwnerAuthenticationWithBiometrics"
        case .deviceOwnerAuthentication: "deviceOwnerAuthentication"
        }
    }
}

/// An operation on an item or key with an access control.
@nonexhaustive
public enum LAAccessControlOperation: Int, Sendable {
    /// Adding an item.
    case createItem = 0

    /// Reading an item.
    case useItem = 1

    /// Creating a key.
    case createKey = 2

    /// Signing with a key.
    case useKeySign = 3

    /// Decrypting with a key.
    case useKeyDecrypt = 4

    /// Key agreement.
    case useKeyKeyExchange = 5
}

extension LAAccessControlOperation {
    /// Whether a person must authenticate; an item is protected only after it was added.
    var needsAuthentication: Bool {
        switch self {
        case .createItem, .createKey: false
        case .useItem, .useKeySign, .useKeyDecrypt, .useKeyKeyExchange: true
        }
    }
}

/// A credential that a program supplies in place of the person.
@nonexhaustive
public enum LACredentialType: Int, Sendable {
    /// The application password of an item.
    case applicationPassword = 0
}

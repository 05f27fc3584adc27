/// A policy: the authentication that a program asks for.
@nonexhaustive
public enum LAPolicy: Int, Sendable {
    /// A finger only.
    case deviceOwnerAuthenticationWithBiometrics = 1

    /// A finger or the passcode, which is the password of the login keychain.
    case deviceOwnerAuthentication = 2

    /// A paired device nearby: there are none here, so it fails with ``LAError/Code/companionNotAvailable``.
    case deviceOwnerAuthenticationWithCompanion = 3

    /// A finger, or a paired device nearby, of which there are none here.
    case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4

    /// The older name of ``deviceOwnerAuthenticationWithCompanion``.
    @available(*, deprecated, renamed: "deviceOwnerAuthenticationWithCompanion")
    public static var deviceOwnerAuthenticationWithWatch: LAPolicy { .deviceOwnerAuthenticationWithCompanion }

    /// The older name of ``deviceOwnerAuthenticationWithBiometricsOrCompanion``.
    @available(*, deprecated, renamed: "deviceOwnerAuthenticationWithBiometricsOrCompanion")
    public static var deviceOwnerAuthenticationWithBiometricsOrWatch: LAPolicy {
        .deviceOwnerAuthenticationWithBiometricsOrCompanion
    }
}

extension LAPolicy {
    /// The name at the provider; nil if it cannot be satisfied.
    var name: String? {
        switch self {
        case .deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthenticationWithBiometricsOrCompanion:
            "deviceOwnerAuthenticationWithBiometrics"
        case .deviceOwnerAuthentication: "deviceOwnerAuthentication"
        case .deviceOwnerAuthenticationWithCompanion: nil
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

    /// The PIN of a smart card; not supported.
    case smartCardPIN = -3
}

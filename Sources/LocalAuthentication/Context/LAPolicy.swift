/// What a person has to prove.
@nonexhaustive
public enum LAPolicy: Int, Sendable {
    /// A finger, and nothing instead.
    case deviceOwnerAuthenticationWithBiometrics = 1

    /// A finger, or the passcode, which is the password of the login keychain.
    case deviceOwnerAuthentication = 2
}

extension LAPolicy {
    /// The policy's name on the bus.
    var name: String {
        switch self {
        case .deviceOwnerAuthenticationWithBiometrics: "deviceOwnerAuthenticationWithBiometrics"
        case .deviceOwnerAuthentication: "deviceOwnerAuthentication"
        }
    }
}

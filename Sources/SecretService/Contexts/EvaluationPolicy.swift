import DBus
import KeychainModel

/// What a context can be asked to have proved, by Apple's names.
enum EvaluationPolicy: String {
    /// A finger, or the passcode.
    case deviceOwnerAuthentication

    /// A finger, and nothing instead.
    case deviceOwnerAuthenticationWithBiometrics

    /// Throws `InvalidArgs` for any other name.
    init(named name: String) throws(BusError) {
        guard let policy = EvaluationPolicy(rawValue: name) else {
            throw BusError(.invalidArguments, "there is no policy of that name")
        }
        self = policy
    }

    /// What has to be proved.
    var policy: Policy {
        switch self {
        case .deviceOwnerAuthentication: Constraint.userPresence.policy
        case .deviceOwnerAuthenticationWithBiometrics: Constraint.biometryAny.policy
        }
    }
}

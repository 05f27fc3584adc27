import DBus
import KeychainModel

/// What a context can be asked to have proved: a policy by Apple's name, or the expression of an access control.
struct EvaluationPolicy {
    /// What has to be proved.
    let policy: Policy

    /// Throws `InvalidArgs` for what is neither, and for passwords of items' own: there is no item.
    init(named name: String) throws(BusError) {
        switch name {
        case "deviceOwnerAuthentication": policy = Constraint.userPresence.policy
        case "deviceOwnerAuthenticationWithBiometrics": policy = Constraint.biometryAny.policy
        default: policy = try EvaluationPolicy.policy(of: name)
        }
    }

    private static func policy(of expression: String) throws(BusError) -> Policy {
        let policy: Policy
        do throws(AccessControlError) {
            policy = try AccessControl(parsing: expression).policy
        } catch {
            throw BusError(.invalidArguments, "there is no such policy: \(error.reason)")
        }
        guard !policy.factors.contains(.applicationPassword) else {
            throw BusError(.invalidArguments, "a password of an item's own is asked for with that item only")
        }
        return policy
    }
}

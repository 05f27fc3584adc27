/// What an access control may ask for, by Apple's names.
package enum Constraint: String, CaseIterable, Hashable, Sendable {
    /// Somebody who can prove to be the owner: biometry, or the passcode instead.
    case userPresence

    /// Any enrolled finger, also one enrolled after the item was stored; no passcode instead.
    case biometryAny

    /// A finger of those enrolled when the item was stored; the item is out of reach once that set changes.
    case biometryCurrentSet

    /// The passcode, which here is the password of the login collection; no biometry instead.
    case devicePasscode

    /// A password of the item's own, which the program that stores it has the person choose.
    case applicationPassword

    /// What satisfies the constraint, by itself.
    package var policy: Policy {
        switch self {
        case .userPresence: Policy(.biometryAny).or(Policy(.passcode))
        case .biometryAny: Policy(.biometryAny)
        case .biometryCurrentSet: Policy(.biometryCurrentSet)
        case .devicePasscode: Policy(.passcode)
        case .applicationPassword: Policy(.applicationPassword)
        }
    }
}

/// One thing that can be proved by an authentication; what constraints come down to.
package enum Factor: UInt8, CaseIterable, Hashable, Sendable {
    /// A match with any enrolled finger.
    case biometryAny

    /// A match, while the set of enrolled fingers is what it was when the item was stored.
    case biometryCurrentSet

    /// The passcode, typed.
    case passcode

    /// The item's own password, typed.
    case applicationPassword
}

public import Foundation

/// The state of the enrolled fingers, which differs after a change.
public struct LADomainState: Hashable, Sendable {
    /// The enrolled fingers.
    public let biometry: LADomainStateBiometry

    /// A hash of the whole state, different for each program; nil if there is no biometry.
    public var stateHash: Data? { biometry.stateHash }
}

/// The enrolled fingers.
public struct LADomainStateBiometry: Hashable, Sendable {
    /// A kind of biometry.
    public let biometryType: LABiometryType

    /// A hash that changes with the enrolled fingers and does not identify them; nil if none can be matched.
    public let stateHash: Data?
}

public import Foundation

/// The enrolled fingers.
public struct LADomainStateBiometry: Hashable, Sendable {
    /// What a person can be recognised by.
    public let biometryType: LABiometryType

    /// A hash that changes with the enrolled fingers and tells nothing of them; nil if no finger can be matched.
    public let stateHash: Data?
}

public import Foundation

/// What authentication goes by: if it differs from before, somebody has changed it.
public struct LADomainState: Hashable, Sendable {
    /// The enrolled fingers.
    public let biometry: LADomainStateBiometry

    /// A hash over all of it, which differs from program to program; nil if there is nothing.
    public var stateHash: Data? { biometry.stateHash }
}

package import KeychainModel

/// What an item asks for, or a program that evaluates a policy of its own.
///
/// One answer serves for all items whose requirements are equal, unless each has a password of its own.
package struct Requirement: Hashable, Sendable {
    /// What has to be proved; nil if nothing.
    package let policy: Policy?

    /// The fingers that were enrolled when the item was stored; nil unless the policy speaks of them.
    package let boundSet: BiometrySet?

    /// Puts a requirement together.
    package init(policy: Policy?, boundSet: BiometrySet? = nil) {
        self.policy = policy
        self.boundSet = boundSet
    }
}

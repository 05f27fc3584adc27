package import KeychainModel

/// Whether a caller may use an item without asking a person: a pure function of policy, grant and session.
package enum Release<Grant> {
    /// The item is not protected now.
    case free

    /// The caller has a grant.
    case granted(Grant)

    /// The caller must satisfy a policy first.
    case needsAuthentication(Policy)

    /// The session is locked, and nobody would see who asks.
    case sessionLocked

    /// Decides.
    ///
    /// - Parameters:
    ///   - policy: nil if nothing must be proved.
    ///   - accessibility: nil if the item has none.
    ///   - grant: the grant of the caller; nil without one.
    package init(of policy: Policy?, _ accessibility: Accessibility?, grant: Grant?, isSessionLocked: Bool) {
        if isSessionLocked, policy != nil || accessibility?.needsUnlockedSession == true {
            self = .sessionLocked
        } else if let policy {
            self = grant.map(Release.granted) ?? .needsAuthentication(policy)
        } else {
            self = .free
        }
    }
}

extension Release: Equatable where Grant: Equatable {}

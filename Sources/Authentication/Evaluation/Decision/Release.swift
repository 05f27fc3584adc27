package import KeychainModel

/// Whether a caller may have an item before anybody is asked: a pure function of what protects the item, of grants, and of the session.
package enum Release<Grant> {
    /// Nothing protects it now.
    case free

    /// The caller has a grant for it.
    case granted(Grant)

    /// The caller has to satisfy a policy first.
    case needsAuthentication(Policy)

    /// Nobody may: behind a locked screen nobody sees who asks.
    case sessionLocked

    /// Decides.
    ///
    /// - Parameters:
    ///   - policy: what has to be proved; nil if nothing.
    ///   - accessibility: when the item can be used; nil if nothing is said.
    ///   - grant: the caller's; nil without one.
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

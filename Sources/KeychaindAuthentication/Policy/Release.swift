package import KeychaindModel

/// Whether a caller may use an item without authentication: a pure function of policy, grant and session.
package enum Release<Grant> {
    case free

    case granted(Grant)
    case needsAuthentication(Policy)

    /// The session is locked, so the dialog would be behind the locked screen.
    case sessionLocked

    /// Decides; nil stands for no policy, accessibility or grant.
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

import KeychaindDBus
import KeychaindVault

/// An authorisation of one operation on one protected item in one state.
///
/// Used at once, or kept by the context in which it was given. It is no grant, and does not allow reading.
struct ItemAuthorization {
    /// The item; in another state it is not changed.
    var item: ProtectedItem

    /// The key of a sealed item, wiped with its last reference.
    let key: ItemKey?

    /// The permitted changes, each once.
    var parts: ItemParts

    /// The context that keeps the unused rest; nil if it serves one call.
    let context: AuthenticationContext?

    /// When it was given.
    let moment: AuthorizationMoment
}

/// The moment of an authorisation: a lock of the screen or of the collection since then ends it.
struct AuthorizationMoment {
    fileprivate let endings: UInt64
    fileprivate let locks: LockMoment
}

extension ItemAccess {
    /// The present, as the moment of an authorisation.
    func moment(in vault: Vault) -> AuthorizationMoment {
        AuthorizationMoment(endings: endings, locks: vault.unlockStart)
    }

    /// Throws `IsLocked` if an authorisation has ended while its call waited.
    ///
    /// Those that contexts keep are removed at a lock; a call has taken its own before.
    func check(_ authorization: ItemAuthorization?) throws(BusError) {
        guard let authorization else { return }
        let moment = authorization.moment
        guard moment.endings == endings, !authorization.item.collection.wasLocked(since: moment.locks) else {
            throw BusError(.isLocked, "the screen or the keychain was locked after the authentication")
        }
    }
}

extension ItemAuthorization? {
    /// Lets the context keep the unused parts, for the item in its new state.
    ///
    /// After a change of the protection, nothing is kept; nor if the authorisation has ended during the write.
    @BusActor
    func keepRest(after used: ItemParts) {
        guard var rest = self, let context = rest.context else { return }
        rest.parts.subtract(used)
        guard !rest.parts.intersection([.content, .existence]).isEmpty, !used.contains(.protection) else { return }
        rest.item = rest.item.current
        context.restore(rest)
    }
}

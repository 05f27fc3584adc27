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

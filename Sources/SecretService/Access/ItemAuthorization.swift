import DBus
import Vault

/// A person's permission for one operation on one protected item, as it was when they were asked.
///
/// It is used at once, or kept by the context in which it was asked for; it is never in the table of grants, and nobody reads by it.
struct ItemAuthorization {
    /// The item; in another state than this it is not changed.
    var item: ProtectedItem

    /// What opens it, if it is sealed; wiped with the last reference.
    let key: ItemKey?

    /// What may be done, each once.
    var parts: ItemParts

    /// Where the rest of it is kept; nil if it serves for one call alone.
    let context: AuthenticationContext?
}

extension ItemAuthorization? {
    /// Lets the context keep what is left of it, after some of it was used: for the item as that has left it, and not if the
    /// protection is another by now.
    @BusActor
    func keepRest(after used: ItemParts) {
        guard var rest = self, let context = rest.context else { return }
        rest.parts.subtract(used)
        guard !rest.parts.intersection([.content, .existence]).isEmpty, !used.contains(.protection) else { return }
        rest.item = rest.item.current
        context.restore(rest)
    }
}

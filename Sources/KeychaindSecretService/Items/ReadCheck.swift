import KeychaindDBus
import KeychaindVault

/// Checks again, before a reply is sent, whether the client may read the items whose secrets are in it.
@BusActor
struct ReadCheck {
    /// The result of a check.
    enum Finding {
        /// It may be read, and nothing is to be audited.
        case open
        /// It may be read by a rule, and that is audited.
        case audited
        /// It may be read by a grant, which is to be used.
        case granted
        case refused
    }

    let client: Client
    let access: ItemAccess

    /// Whether the items of some of the collections are checked one by one.
    func isNeeded(for collections: [Collection]) -> Bool {
        // What a program in a sandbox sees may have changed, too.
        client.view.isConfined || collections.contains(where: mustAuthorize)
    }

    /// Checks an item, and audits what a rule has decided unless an earlier check has.
    func check(_ item: ReadableItem, after earlier: Finding) -> Finding {
        guard client.sees(item.id, in: item.collection) else { return .refused }
        guard item.grant != nil || mustAuthorize(item.collection) else { return earlier == .audited ? .audited : .open }
        guard let permission = try? access.authorize(item.id, in: item.collection, for: client, isFound: true) else {
            return .refused
        }
        if permission.takesGrant { return .granted }
        if earlier == .audited { return .audited }
        access.use(permission, of: item.id, in: item.collection, by: client)
        return permission.isAudited ? .audited : .open
    }

    /// Uses and audits the grant of an item; false if access has ended.
    func useGrant(of item: ReadableItem) -> Bool {
        (try? access.release(item.id, in: item.collection, to: client)) != nil
    }

    private func mustAuthorize(_ collection: Collection) -> Bool {
        access.rules.isActive || collection.isLocked || collection.hasProtectedItems || collection.hasProblem
    }
}

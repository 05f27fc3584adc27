import KeychaindDBus
import KeychaindVault

/// Checks the rules about the items of a keychain before its deletion.
@BusActor
struct DeletionRules {
    let access: ItemAccess

    /// Throws `AccessDenied` if a rule forbids a client one of the items, as the deletion of that item does.
    ///
    /// Rules about attributes do not match items whose attributes are unknown; see ``needsUnlock(of:)``.
    func check(_ collection: Collection, for client: Client) async throws(BusError) {
        guard access.rules.isActive else { return }
        await access.rules.look(at: client)
        try client.checkConnected()
        for id in collection.itemIDs where access.isForbidden(id, in: collection, for: client) {
            throw BusError(.forbidden)
        }
    }

    /// Whether a collection must be unlocked to know which rules are about its items.
    func needsUnlock(of collection: Collection) -> Bool {
        guard access.rules.isActive, collection.isLocked, !collection.isMissing else { return false }
        return collection.itemIDs.contains { id in collection.item(id)?.condition == .unread }
    }
}

import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// `DeleteItems` of `org.keychaind.Collection1`.
extension CollectionObject {
    /// Deletes items of the collection in one write, or none of them.
    ///
    /// Each is refused as by its `Delete`; where that would return a prompt, this throws `NotSupported`.
    @BusActor
    func deleteItems(_ call: MethodCall) async throws(BusError) {
        let ids = try readItemsToDelete(call)
        var protected: [ProtectedItem] = []
        for id in ids {
            guard let item = try check(id, call) else { continue }
            // Nothing is taken before it is known that all can be deleted.
            guard items.hasAuthorization(toDelete: item, for: client) else { throw Self.needsPrompt(id) }
            protected.append(item)
        }
        var authorizations: [ItemID: ItemAuthorization] = [:]
        for item in protected {
            guard let authorization = items.takeAuthorization(toDelete: item, for: client) else {
                throw Self.needsPrompt(item.id)
            }
            authorizations[item.id] = authorization
        }
        try await items.delete(ids, in: collection, by: client, authorizedBy: authorizations)
    }

    /// Does what happens to a call of `Delete` before the deletion; returns the item if that takes an authorisation.
    @BusActor
    private func check(_ id: ItemID, _ call: MethodCall) throws(BusError) -> ProtectedItem? {
        guard collection.contains(id), client.sees(id, in: collection) else {
            throw BusError(.noSuchObject, "there is no item \(id)")
        }
        // The gate has admitted a call to the collection, and not to an item that is shared for reading.
        if client.view.isConfined, !client.mayChange(id, in: collection) { try SandboxGate.item.check(call) }
        return try items.checkDeletion(of: id, in: collection, for: client)
    }

    @BusActor
    private func readItemsToDelete(_ call: MethodCall) throws(BusError) -> [ItemID] {
        var ids: [ItemID] = []
        var seen: Set<ItemID> = []
        var reader = call.message.makeReader()
        try reader.readArray(limit: provider.limits.deletionsPerCall) { (reader) throws(BusError) in
            let path = try ObjectPath(from: &reader)
            guard case .item(let reference, let id)? = SecretPath(path), provider.vault.find(reference) === collection
            else {
                throw BusError(.invalidArguments, "\(path.rawValue) is no item of this collection")
            }
            guard seen.insert(id).inserted else {
                throw BusError(.invalidArguments, "item \(id) is named twice")
            }
            ids.append(id)
        }
        return ids
    }

    private static func needsPrompt(_ id: ItemID) -> BusError {
        BusError(.notSupported, "item \(id) needs a prompt; delete the items one by one")
    }
}

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

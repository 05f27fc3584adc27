import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// Deleting items.
extension Items {
    // MARK: Permission

    /// Throws `AccessDenied` for an imported portal secret: its application would lose its data.
    func checkChangeable(_ id: ItemID, in collection: Collection) throws(BusError) {
        guard !collection.isPortalSecret(id) else {
            throw BusError(.accessDenied, "an application's data are encrypted under the portal secret")
        }
    }

    /// Checks that a client may delete an item; returns the item if that takes an authorisation.
    ///
    /// A grant does not cover deletion (#109, #129). A program in a sandbox may delete what it stored itself, as it may
    /// have to without a display.
    func checkDeletion(
        of id: ItemID,
        in collection: Collection,
        for client: Client
    ) throws(BusError) -> ProtectedItem? {
        try checkChangeable(id, in: collection)
        switch access.verdict(on: id, in: collection, for: client) {
        case .granted, .needsAuthentication:
            guard let policy = collection.protection(of: id).policy, !client.hasStored(id, in: collection) else {
                return nil
            }
            return ProtectedItem(id: id, collection: collection, policy: policy)
        case .unavailable(.sessionLocked):
            throw BusError(.sessionLocked)
        case .unavailable(.forbidden):
            throw BusError(.forbidden)
        case .open, .needsConfirmation, .unavailable:
            // The vault refuses to delete damaged protected items, and deletes other damaged ones.
            return nil
        }
    }

    /// Whether a client has an authorisation to delete an item in its present state; does not use it.
    func hasAuthorization(toDelete item: ProtectedItem, for client: Client) -> Bool {
        context(authorizingToDelete: item, for: client) != nil
    }

    /// Takes a client's authorisation to delete an item in its present state; nil if there is none.
    func takeAuthorization(toDelete item: ProtectedItem, for client: Client) -> ItemAuthorization? {
        context(authorizingToDelete: item, for: client)?.takeAuthorization(for: .existence, of: item.reference)
    }

    private func context(authorizingToDelete item: ProtectedItem, for client: Client) -> AuthenticationContext? {
        client.context(authorizing: .existence, of: item.reference) { authorization in
            access.isUnchanged(authorization.item)
        }
    }

    // MARK: Deleting

    /// What is known of an item before its deletion.
    private struct DeletedItem {
        let id: ItemID
        /// Empty for an unprotected item.
        let policy: String
        /// The clients that see it, but not all items.
        let witnesses: [Client]
    }

    /// Deletes an item, its lockout and its grants.
    ///
    /// - Parameter authorization: required if the item is protected.
    func delete(
        _ id: ItemID,
        in collection: Collection,
        by client: Client,
        authorizedBy authorization: ItemAuthorization?
    ) async throws(BusError) {
        try checkChange(of: id, in: collection, by: client)
        try access.check(authorization)
        let item = itemToDelete(id, in: collection)
        try await translatingErrors { () async throws(VaultError) in
            try await collection.deleteItem(
                id,
                authenticated: authorization != nil || client.hasStored(id, in: collection),
                at: authorization?.item.revision
            )
        }
        didDelete(item, in: collection, by: client)
    }

    /// Deletes items in one write, or none, with their lockouts and grants.
    ///
    /// - Parameter authorizations: those of the protected items, each of which requires one.
    func delete(
        _ ids: [ItemID],
        in collection: Collection,
        by client: Client,
        authorizedBy authorizations: [ItemID: ItemAuthorization]
    ) async throws(BusError) {
        for id in ids { try checkChange(of: id, in: collection, by: client) }
        let items = ids.map { id in itemToDelete(id, in: collection) }
        let deletions = ids.map { id in
            let isAllowed = authorizations[id] != nil || client.hasStored(id, in: collection)
            return ItemDeletion(of: id, authenticated: isAllowed, at: authorizations[id]?.item.revision)
        }
        try await translatingErrors { () async throws(VaultError) in try await collection.deleteItems(deletions) }
        for item in items { didDelete(item, in: collection, by: client) }
    }

    private func itemToDelete(_ id: ItemID, in collection: Collection) -> DeletedItem {
        DeletedItem(
            id: id,
            policy: collection.policyText(of: id),
            witnesses: changes.witnesses(of: id, in: collection)
        )
    }

    /// Audits a deletion, ends what belonged to the item, and emits the signals.
    private func didDelete(_ item: DeletedItem, in collection: Collection, by client: Client) {
        let reference = ItemReference(item.id, in: collection)
        if !item.policy.isEmpty {
            audit.deleted(.item(item.id, in: collection.name), policy: item.policy, by: client)
        }
        lockouts.forget(item.id, in: collection)
        clients.endGrants(of: reference)
        access.rules.forget(reference)
        changes.itemDeleted(item.id, in: collection, witnesses: item.witnesses)
    }
}

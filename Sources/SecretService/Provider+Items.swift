import Authentication
import DBus
import Desktop
import Gcrypt
import KeychainModel
import Logging
import Vault

/// Changes to items, with the signals that tell of them.
extension Provider {
    /// Stores a new item, or in the place of the one with equal attributes, and gives its path.
    ///
    /// Throws `IsLocked` if that one is protected, unless a person has let the caller replace just that one as it is now.
    func create(
        _ new: consuming NewItem,
        in collection: Collection,
        for caller: String,
        applicationPassword: consuming SecureBytes? = nil,
        authorizedBy authorization: ItemAuthorization?
    ) async throws(BusError) -> ObjectPath {
        let description = new.description
        let replacing = new.replacing
        var attributes = description.attributes
        let policy = try checkProtection(in: attributes)?.policy
        attributes = try await BiometryBinding.bind(attributes, under: policy, to: biometry, in: vault)
        var used: ItemAuthorization?
        var before = ItemProtection.none
        let replaced = replacing ? itemToReplace(by: description, in: collection) : nil
        if let replaced {
            used = try permission(toReplace: replaced, in: collection, for: caller, by: authorization)
            before = collection.protection(of: replaced)
            attributes = try attributesToStore(attributes, replacing: replaced, in: collection)
        }
        let creation: ItemCreation
        do throws(VaultError) {
            if let replaced, let key = used?.key {
                // Under its own key, the item keeps the password that it was stored with.
                try await collection.updateItem(
                    replaced,
                    label: description.label,
                    attributes: attributes,
                    secret: new.takeSecret(),
                    key: key,
                    applicationPassword: applicationPassword,
                    authenticated: true,
                    at: used?.item.revision
                )
                creation = .replaced(replaced)
            } else {
                creation = try await collection.createItem(
                    label: description.label,
                    attributes: attributes,
                    secret: new.takeSecret(),
                    replacing: replacing,
                    applicationPassword: applicationPassword,
                    authenticated: used == nil ? nil : replaced,
                    at: used?.item.revision
                )
            }
        } catch {
            throw BusError(error)
        }
        if collection.protection(of: creation.id) != before {
            audit.accessControlChanged(creation.id, in: collection, by: caller, authenticated: used != nil)
        } else if used != nil {
            audit.changed(creation.id, in: collection, by: caller)
        }
        switch creation {
        case .created(let id):
            changes.itemCreated(id, in: collection)
            return .item(id, in: collection.name)
        case .replaced(let id):
            var changed = ItemProperties.all
            if collection.protection(of: id) != before {
                access.endGrants(of: ItemReference(id, in: collection))
                changed.insert(.locked)
            }
            changes.itemChanged(id, in: collection, changed)
            return .item(id, in: collection.name)
        }
    }

    /// The item that a new one would take the place of.
    func itemToReplace(by new: ItemDescription, in collection: Collection) -> ItemID? {
        collection.isLocked ? nil : collection.itemToReplace(new.attributes)
    }

    /// What an item is stored with: what new attributes do not say about protection is as it was in the item that is replaced.
    ///
    /// Throws `InvalidArgs` if the two together are nothing that an item can have.
    func attributesToStore(
        _ new: Attributes,
        replacing replaced: ItemID,
        in collection: Collection
    ) throws(BusError) -> Attributes {
        guard let old = collection.item(replaced)?.attributes else { return new }
        let attributes = new.keepingProtection(of: old)
        try checkProtection(in: attributes)
        return attributes
    }

    /// Whether an item may be replaced: by what a person has allowed, or since nothing protects it, which is nil.
    private func permission(
        toReplace id: ItemID,
        in collection: Collection,
        for caller: String,
        by authorization: ItemAuthorization?
    ) throws(BusError) -> ItemAuthorization? {
        switch access.verdict(on: id, in: collection, for: caller) {
        case .open: return nil
        case .granted, .needsAuthentication:
            let reference = ItemReference(id, in: collection)
            guard let authorization, authorization.item.reference == reference, access.isUnchanged(authorization.item)
            else { throw BusError(.isLocked, "item \(id) needs an authentication first") }
            return authorization
        case .unavailable(let obstacle): throw BusError(.isLocked, "\(obstacle)")
        }
    }

    /// - Parameter authorization: of a person, if the item is protected.
    func delete(
        _ id: ItemID,
        in collection: Collection,
        by caller: String,
        authorizedBy authorization: ItemAuthorization?
    ) async throws(BusError) {
        let policy = collection.policyText(of: id)
        try await translatingErrors { () async throws(VaultError) in
            try await collection.deleteItem(
                id,
                authenticated: authorization != nil,
                at: authorization?.item.revision
            )
        }
        if !policy.isEmpty { audit.deleted(.item(id, in: collection.name), policy: policy, by: caller) }
        lockouts.forget(id, in: collection)
        access.endGrants(of: ItemReference(id, in: collection))
        changes.itemDeleted(id, in: collection)
    }

    /// Asks a person for what the policies of items need, and grants the caller those for which it was proved.
    ///
    /// What it came to is in the context, if there is one.
    ///
    /// - Parameters:
    ///   - named: items for which the passcode was given just before, if it was.
    ///   - authentication: who asks for them, and what for.
    func authenticate(
        _ items: [ProtectedItem],
        given named: NamedItems? = nil,
        by authentication: ItemAuthentication,
        asking conversation: Conversation
    ) async {
        do throws(AuthenticationError) {
            try await authentication.run(items, given: named, asking: conversation)
        } catch {
            logger.debug("An authentication came to nothing", metadata: ["reason": "\(error)"])
            authentication.context?.failure = error
        }
    }

    /// Has a person let a caller do one thing to an item; throws if that came to nothing.
    func authorize(
        _ action: ItemAction,
        _ item: ProtectedItem,
        for caller: String,
        asking conversation: Conversation
    ) async throws(AuthenticationError) -> ItemAuthorization {
        let authentication = ItemAuthentication(to: action, for: await callers.caller(caller), provider: self)
        try await authentication.run([item.current], asking: conversation)
        guard let authorization = authentication.authorizations.first, !conversation.isEnded else {
            throw AuthenticationError(.systemCancel, reason: "the item was changed or locked meanwhile")
        }
        return authorization
    }

    /// Checks the reserved attributes that an item is to have; throws `InvalidArgs` if they are none that it can have.
    @discardableResult
    func checkProtection(in attributes: Attributes) throws(BusError) -> Protection? {
        do throws(AccessControlError) {
            return try Protection(of: attributes)
        } catch {
            throw BusError(.invalidArguments, error.reason)
        }
    }
}

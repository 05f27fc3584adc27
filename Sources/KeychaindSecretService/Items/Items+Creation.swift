import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindModel
import KeychaindRules
import KeychaindVault

/// Creating items.
extension Items {
    /// Stores a new item, or replaces the one with equal attributes, and returns its path.
    ///
    /// Throws `IsLocked` if the replaced item is protected and the authorisation does not match its state.
    ///
    /// - Parameter key: the values that no other item may have.
    func create(
        _ new: consuming CreationRequest,
        ifUnique key: UniqueKey?,
        in collection: Collection,
        for client: Client,
        applicationPassword: consuming SecureBytes? = nil,
        authorizedBy authorization: ItemAuthorization?
    ) async throws(BusError) -> ObjectPath {
        let description = new.description
        var attributes = description.attributes
        if let policy = new.protection?.policy {
            // Identify the program now: it may exit once it has our reply, and the audit needs its name.
            _ = await client.caller()
            try await checkReachable(policy, for: client)
            attributes = try await bind(attributes, under: policy)
        } else {
            attributes = BiometryBinding.unbound(attributes)
        }
        // An item is found once it is on disk, so a second creation with the same key waits for the first.
        let place = key?.place(in: collection)
        if let place { await uniqueKeys.lock(place) }
        defer { if let place { uniqueKeys.unlock(place) } }
        // The view may have changed in the waits.
        try checkStoring(attributes, in: collection, for: client)
        // Which item it is decides nothing where all are open to the client.
        let mayBeRefused = collection.hasProtectedItems || access.rules.isActive || key != nil
        let id = new.replacing && mayBeRefused ? itemToReplace(by: description, in: collection, for: client) : nil
        if let key { try check(key, otherThan: id, in: collection, for: client) }
        var replaced: ReplacedItem?
        if let id {
            replaced = try checkReplacing(id, with: &attributes, in: collection, for: client, by: authorization)
        }
        attributes = attributes.stamped(by: client.view.stamp?.program)
        let creation: ItemCreation
        do throws(VaultError) {
            creation = try await store(
                new,
                attributes,
                replacing: replaced,
                in: collection,
                for: client,
                applicationPassword: applicationPassword
            )
        } catch {
            throw BusError(error)
        }
        didStore(creation, replacing: replaced, in: collection, by: client)
        return .item(creation.id, in: collection.name)
    }

    /// Throws unless a client may store an item with these attributes, and would see it.
    func checkStoring(
        _ attributes: Attributes,
        in collection: Collection,
        for client: Client
    ) throws(BusError) {
        guard client.view.mayStore else {
            throw BusError(.accessDenied, "keychaind does not know the sandbox of the program")
        }
        try client.checkAccessGroup(of: attributes)
        let stamped = attributes.stamped(by: client.view.stamp?.program)
        try access.checkVisible(RuleSubject(nil, in: collection.name, with: stamped), for: client)
    }

    /// An item that a new one replaces, as it was before.
    private struct ReplacedItem {
        let id: ItemID
        let protection: ItemProtection
        /// Nil if the item is unprotected.
        let permission: ItemAuthorization?
    }

    /// Checks that a client may replace an item, and completes the attributes to store in its place.
    private func checkReplacing(
        _ id: ItemID,
        with attributes: inout Attributes,
        in collection: Collection,
        for client: Client,
        by authorization: ItemAuthorization?
    ) throws(BusError) -> ReplacedItem {
        let permission = try permission(toReplace: id, in: collection, for: client, by: authorization)
        let protection = collection.protection(of: id)
        attributes = try Items.attributesToStore(attributes, replacing: id, in: collection)
        try access.checkRules(on: id, in: collection, with: attributes, for: client)
        return ReplacedItem(id: id, protection: protection, permission: permission)
    }

    /// Stores a new item, in place of a protected one only in the state that the permission is for.
    private func store(
        _ new: consuming CreationRequest,
        _ attributes: Attributes,
        replacing replaced: ReplacedItem?,
        in collection: Collection,
        for client: Client,
        applicationPassword: consuming SecureBytes?
    ) async throws(VaultError) -> ItemCreation {
        let description = new.description
        let replacing = new.replacing
        let permission = replaced?.permission
        if let replaced, let key = permission?.key {
            // With its own key, the item keeps the password that it was stored with.
            try await collection.updateItem(
                replaced.id,
                label: description.label,
                attributes: attributes,
                secret: new.takeSecret(),
                key: key,
                applicationPassword: applicationPassword,
                authenticated: true,
                at: permission?.item.revision,
                sandboxed: client.view.isSandboxed
            )
            return .replaced(replaced.id)
        }
        return try await collection.createItem(
            label: description.label,
            attributes: attributes,
            secret: new.takeSecret(),
            times: description.times,
            replacing: replacing,
            having: client.replacedAttributes,
            except: hiddenItems(equalTo: attributes, in: collection, for: client),
            applicationPassword: applicationPassword,
            authenticated: permission == nil ? nil : replaced?.id,
            at: permission?.item.revision,
            sandboxed: client.view.isSandboxed
        )
    }

    /// Audits a stored item and emits its signals.
    private func didStore(
        _ creation: ItemCreation,
        replacing replaced: ReplacedItem?,
        in collection: Collection,
        by client: Client
    ) {
        let isAuthenticated = replaced?.permission != nil
        let isProtectionChanged = collection.protection(of: creation.id) != replaced?.protection ?? ItemProtection.none
        if isProtectionChanged {
            audit.accessControlChanged(creation.id, in: collection, by: client, authenticated: isAuthenticated)
        } else if isAuthenticated {
            audit.changed(creation.id, in: collection, by: client)
        }
        switch creation {
        case .created(let id):
            changes.itemCreated(id, in: collection)
        case .replaced(let id):
            if isProtectionChanged { clients.endGrants(of: ItemReference(id, in: collection)) }
            changes.itemChanged(id, in: collection, isProtectionChanged ? [.all, .locked] : .all)
        }
    }

    /// The item that a new one of a client would replace; nil in a locked collection.
    func itemToReplace(by new: ItemDescription, in collection: Collection, for client: Client) -> ItemID? {
        guard !collection.isLocked else { return nil }
        return collection.itemToReplace(
            new.attributes,
            having: client.replacedAttributes,
            except: hiddenItems(equalTo: new.attributes, in: collection, for: client)
        )
    }

    /// The items that a new one would replace, if rules did not hide them from the client.
    private func hiddenItems(
        equalTo attributes: Attributes,
        in collection: Collection,
        for client: Client
    ) -> Set<ItemID> {
        guard access.rules.hidesItems(from: client) else { return [] }
        var hidden: Set<ItemID> = []
        while let id = collection.itemToReplace(attributes, having: client.replacedAttributes, except: hidden),
            access.rules.hides(id, in: collection, from: client)
        {
            hidden.insert(id)
        }
        return hidden
    }

    /// The attributes to store; if the new ones state no protection, that of the replaced item applies.
    ///
    /// Throws `InvalidArgs` if the combination is invalid.
    static func attributesToStore(
        _ new: Attributes,
        replacing replaced: ItemID,
        in collection: Collection
    ) throws(BusError) -> Attributes {
        guard let old = collection.item(replaced)?.attributes else { return new }
        let attributes = new.keepingProtection(of: old)
        // What a new item states itself is checked when it is read.
        if attributes != new { try checkProtection(in: attributes) }
        return attributes
    }

    /// Parses the reserved attributes; throws `InvalidArgs` if they are invalid.
    @discardableResult
    nonisolated static func checkProtection(in attributes: Attributes) throws(BusError) -> Protection? {
        do throws(AccessControlError) {
            return try Protection(of: attributes)
        } catch {
            throw BusError(.invalidArguments, error.reason)
        }
    }

    /// Throws `NotSupported` if only a touch would open an item, and there is no reader, or no dialog for the client
    /// that may take one: the item could never be read or deleted.
    func checkReachable(_ policy: Policy?, for client: Client) async throws(BusError) {
        guard let policy, policy.alternatives.allSatisfy({ !$0.isDisjoint(with: .biometry) }) else { return }
        let (error, _) = await authenticator.obstacle(to: policy, for: client)
        guard let error else { return }
        if error.code == .biometryNotAvailable {
            let reason = "only a finger would open it, and no fingerprint reader can be used: \(error.reason)"
            throw BusError(.notSupported, reason)
        }
        guard error.cause == .prompterNotTrusted else { return }
        throw BusError(.notSupported, "\(error.reason): that takes keychaind-dialog, or GNOME Shell on Wayland")
    }

    /// Binds attributes to the enrolled fingers if their policy requires that; see ``BiometryBinding``.
    func bind(
        _ attributes: Attributes,
        under policy: Policy?,
        keeping kept: String? = nil
    ) async throws(BusError) -> Attributes {
        try await BiometryBinding.bind(
            attributes,
            under: policy,
            keeping: kept,
            to: authenticator.biometry,
            in: vault
        )
    }

    /// The authorisation to replace an item; nil if the item is unprotected.
    private func permission(
        toReplace id: ItemID,
        in collection: Collection,
        for client: Client,
        by authorization: ItemAuthorization?
    ) throws(BusError) -> ItemAuthorization? {
        switch access.verdict(on: id, in: collection, for: client) {
        case .open, .needsConfirmation: return nil
        case .granted where collection.protection(of: id).policy == nil: return nil
        case .granted, .needsAuthentication:
            let reference = ItemReference(id, in: collection)
            guard let authorization, authorization.item.reference == reference, access.isUnchanged(authorization.item)
            else { throw BusError(.isLocked, "item \(id) needs an authentication first") }
            try access.check(authorization)
            return authorization
        case .unavailable(let obstacle): throw BusError(obstacle)
        }
    }
}

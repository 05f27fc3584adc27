package import Gcrypt
package import KeychainModel

extension Collection {
    /// Makes an item, or gives the newest item with equal attributes a new label, attributes and secret when `replacing` (#94).
    ///
    /// A replaced item keeps its number and its time of creation (#95). An item whose policy asks for keys in each of its
    /// alternatives is sealed under a key of its own. When this returns, the disk has it. Throws `locked`, `limitExceeded`,
    /// `invalidAccessControl`, `passcodeNotSet`, `applicationPasswordNeeded`, `authenticationNeeded` for the replacement of a
    /// protected item, and what the disk may; then nothing has changed.
    ///
    /// - Parameters:
    ///   - applicationPassword: the item's own password, if its access control asks for one.
    ///   - authenticated: the protected item that may be replaced, since the caller has been authenticated for it.
    ///   - revision: the state of that item which the caller was authenticated for; another one is not replaced.
    package func createItem(
        label: String,
        attributes: Attributes,
        secret: consuming Secret,
        replacing: Bool,
        applicationPassword: consuming SecureBytes? = nil,
        authenticated: ItemID? = nil,
        at revision: ItemRevision? = nil
    ) async throws(VaultError) -> ItemCreation {
        try limits.check(label: label)
        try limits.check(attributes)
        try limits.check(secret)
        let shared = SharedSecret(secret)
        let alternatives = try validProtection(of: attributes).keyAlternatives
        let newSecret = try await newSecret(shared, for: alternatives, applicationPassword: applicationPassword)
        let request = PendingMutation.Request.create(
            NewItem(
                label: label,
                attributes: attributes,
                secret: newSecret,
                isReplacing: replacing,
                authenticated: authenticated,
                revision: revision
            )
        )
        guard case .item(let creation) = try await perform(PendingMutation(request)) else {
            throw VaultError(.storageFailed, reason: "a new item got no number")
        }
        return creation
    }

    /// Gives an item another label, other attributes or another secret; what is nil stays as it is.
    ///
    /// With its key, a new secret is sealed under that; without, under a new one. Attributes that change which keys are asked for
    /// have the secret sealed anew. When this returns, the disk has it. Throws `locked`, `noSuchItem`, `limitExceeded`, `unreadable`
    /// for a damaged item, `invalidAccessControl`, `authenticationNeeded`, `passcodeNotSet`, `applicationPasswordNeeded`, `busy` when
    /// the item was changed by another at the same time, and what the disk may; then nothing has changed.
    ///
    /// - Parameters:
    ///   - key: the key of an item that has one; who has it counts as authenticated.
    ///   - applicationPassword: the item's own password from now on.
    ///   - isAuthenticated: whether the caller has been authenticated for the item.
    ///   - revision: the state of the item which that was for; another one is not changed.
    package func updateItem(
        _ id: ItemID,
        label: String? = nil,
        attributes: Attributes? = nil,
        secret: consuming Secret?,
        key: ItemKey? = nil,
        applicationPassword: consuming SecureBytes? = nil,
        authenticated isAuthenticated: Bool = false,
        at revision: ItemRevision? = nil
    ) async throws(VaultError) {
        try limits.check(label: label ?? "")
        if let attributes { try limits.check(attributes) }
        var shared: SharedSecret?
        if let secret = consume secret {
            try limits.check(secret)
            shared = SharedSecret(secret)
        }
        var update = ItemUpdate(label: label, isAuthenticated: isAuthenticated || key?.item == id)
        update.revision = revision
        if let attributes { update.attributes = .all(attributes) }
        if attributes != nil || shared != nil || applicationPassword != nil || lacksKey(id) {
            try await complete(
                &update,
                of: id,
                attributes: attributes,
                secret: shared,
                key: key,
                applicationPassword: applicationPassword
            )
        }
        _ = try await perform(PendingMutation(.update(id, update)))
    }

    /// Gives an item another label or other attributes, and leaves its secret alone, unless other keys are asked for from now on.
    package func updateItem(
        _ id: ItemID,
        label: String? = nil,
        attributes: Attributes? = nil,
        key: ItemKey? = nil,
        applicationPassword: consuming SecureBytes? = nil,
        authenticated isAuthenticated: Bool = false,
        at revision: ItemRevision? = nil
    ) async throws(VaultError) {
        try await updateItem(
            id,
            label: label,
            attributes: attributes,
            secret: nil,
            key: key,
            applicationPassword: applicationPassword,
            authenticated: isAuthenticated,
            at: revision
        )
    }

    /// Sets one attribute of an item, or with nil removes it; the others are what they are when the change is written.
    ///
    /// Throws what a change of all attributes throws, and `notSupported` for the keychain's own attributes.
    package func updateItem(
        _ id: ItemID,
        setting name: String,
        to value: String?,
        authenticated isAuthenticated: Bool = false,
        at revision: ItemRevision? = nil
    ) async throws(VaultError) {
        guard !name.utf8.starts(with: Attributes.reservedPrefix.utf8) else {
            throw VaultError(.notSupported, reason: "the keychain's own attributes are set all at once")
        }
        let update = ItemUpdate(attributes: .one(name, value), isAuthenticated: isAuthenticated, revision: revision)
        _ = try await perform(PendingMutation(.update(id, update)))
    }

    /// Removes an item, a damaged one too.
    ///
    /// When this returns, the disk has it. Throws `locked`, `noSuchItem`, `authenticationNeeded` for a protected item, and what the
    /// disk may.
    ///
    /// - Parameters:
    ///   - isAuthenticated: whether the caller has been authenticated for the item.
    ///   - revision: the state of the item which that was for; another one is not removed.
    package func deleteItem(
        _ id: ItemID,
        authenticated isAuthenticated: Bool = false,
        at revision: ItemRevision? = nil
    ) async throws(VaultError) {
        _ = try await perform(PendingMutation(.delete(id, authenticated: isAuthenticated, at: revision)))
    }

    /// Gives the collection another label.
    ///
    /// When this returns, the disk has it. Throws `locked`, `limitExceeded`, and what the disk may.
    package func setLabel(_ label: String) async throws(VaultError) {
        try limits.check(label: label)
        _ = try await perform(PendingMutation(.rename(label)))
    }

    private var limits: VaultLimits { context.configuration.limits }
}

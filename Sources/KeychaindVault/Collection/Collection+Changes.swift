package import KeychaindGcrypt
package import KeychaindModel

extension Collection {
    /// Creates an item, or with `replacing` changes the newest item with equal attributes (#94).
    ///
    /// Durable on return. A replaced item keeps its ID and creation time (#95). An item whose policy takes key material
    /// in each alternative gets an item key. Throws `locked`, `limitExceeded`, `invalidAccessControl`,
    /// `passcodeNotSet`, `applicationPasswordNeeded`, `authenticationNeeded` when the item to replace is protected, and
    /// disk errors; then nothing has changed.
    ///
    /// - Parameters:
    ///   - replaced: attributes of the item to replace, such as a stamp; none for any item.
    ///   - kept: items that are not replaced.
    ///   - times: the times of an item that is older than its copy here; those of a protected item cannot be replaced.
    ///   - authenticated: the protected item that the caller was authenticated to replace.
    ///   - revision: the revision of that item; no other is replaced.
    ///   - isSandboxed: whether the item needs the quota of the sandboxed program in its stamp.
    package func createItem(
        label: String,
        attributes: Attributes,
        secret: consuming Secret,
        times: CopiedTimes = CopiedTimes(),
        replacing: Bool,
        having replaced: Attributes = Attributes(),
        except kept: Set<ItemID> = [],
        applicationPassword: consuming SecureBytes? = nil,
        authenticated: ItemID? = nil,
        at revision: ItemRevision? = nil,
        sandboxed isSandboxed: Bool = false
    ) async throws(VaultError) -> ItemCreation {
        try limits.check(label: label)
        try limits.check(attributes)
        try limits.check(secret)
        let begun = context.locks.now
        let shared = SecretReference(secret)
        let protection = try validProtection(of: attributes)
        let newSecret: NewSecret =
            if let alternatives = protection.keyAlternatives {
                try await self.newSecret(shared, for: alternatives, applicationPassword: applicationPassword)
            } else { .ordinary(shared) }
        let request = PendingMutation.Request.create(
            NewItem(
                label: label,
                attributes: attributes,
                protection: protection,
                secret: newSecret,
                times: times,
                isReplacing: replacing,
                replacedAttributes: replaced,
                keptItems: kept,
                authenticated: authenticated,
                revision: revision,
                isSandboxed: isSandboxed
            )
        )
        guard case .item(let creation) = try await perform(PendingMutation(request), since: begun) else {
            throw VaultError(.storageFailed, reason: "the new item has no ID")
        }
        return creation
    }

    /// Changes an item's label, attributes or secret; nil leaves a part as it is.
    ///
    /// Durable on return. With the item's key, a new secret is sealed under it; otherwise under a new key. Attributes
    /// that change the required key material have the secret sealed again. Throws `locked`, `noSuchItem`,
    /// `limitExceeded`, `unreadable` for a damaged item, `invalidAccessControl`, `authenticationNeeded`,
    /// `passcodeNotSet`, `applicationPasswordNeeded`, `busy` after a concurrent change, and disk errors; then nothing
    /// has changed.
    ///
    /// - Parameters:
    ///   - key: the item key; it implies authentication.
    ///   - revision: the revision that the authentication was for; no other is changed.
    ///   - isSandboxed: whether what grows needs the quota of the sandboxed program in the item's stamp.
    package func updateItem(
        _ id: ItemID,
        label: String? = nil,
        attributes: Attributes? = nil,
        secret: consuming Secret? = nil,
        key: ItemKey? = nil,
        applicationPassword: consuming SecureBytes? = nil,
        authenticated isAuthenticated: Bool = false,
        at revision: ItemRevision? = nil,
        sandboxed isSandboxed: Bool = false
    ) async throws(VaultError) {
        try limits.check(label: label ?? "")
        if let attributes { try limits.check(attributes) }
        let begun = context.locks.now
        var shared: SecretReference?
        if let secret = consume secret {
            try limits.check(secret)
            shared = SecretReference(secret)
        }
        var update = PendingUpdate(label: label, isAuthenticated: isAuthenticated || key?.item == id)
        update.revision = revision
        update.isSandboxed = isSandboxed
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
        _ = try await perform(PendingMutation(.update(id, update)), since: begun)
    }

    /// Sets one attribute of an item, or removes it when the value is nil; throws `notSupported` for reserved ones.
    ///
    /// Other attributes keep their value at the time of the write.
    package func updateItem(
        _ id: ItemID,
        setting name: String,
        to value: String?,
        authenticated isAuthenticated: Bool = false,
        at revision: ItemRevision? = nil,
        sandboxed isSandboxed: Bool = false
    ) async throws(VaultError) {
        guard !name.utf8.starts(with: Attributes.reservedPrefix.utf8) else {
            throw VaultError(
                .notSupported,
                reason: "reserved attributes cannot be set one by one; set all attributes at once"
            )
        }
        var update = PendingUpdate(attributes: .one(name, value), isAuthenticated: isAuthenticated, revision: revision)
        update.isSandboxed = isSandboxed
        _ = try await perform(PendingMutation(.update(id, update)))
    }

    /// Deletes an item durably, even a damaged one.
    ///
    /// Throws `locked`, `noSuchItem`, `authenticationNeeded` for a protected item, and disk errors.
    ///
    /// - Parameter revision: the revision that the authentication was for; no other is deleted.
    package func deleteItem(
        _ id: ItemID,
        authenticated isAuthenticated: Bool = false,
        at revision: ItemRevision? = nil
    ) async throws(VaultError) {
        let deletion = ItemDeletion(of: id, authenticated: isAuthenticated, at: revision)
        _ = try await perform(PendingMutation(.delete([deletion])))
    }

    /// Deletes items durably in one transaction, or none of them.
    ///
    /// Throws as ``deleteItem(_:authenticated:at:)`` does for one of them, `noSuchItem` for an item that is named
    /// twice, and `limitExceeded` if a full disk has room for fewer at once.
    package func deleteItems(_ deletions: [ItemDeletion]) async throws(VaultError) {
        guard !deletions.isEmpty else { return }
        var ids: Set<ItemID> = []
        for deletion in deletions where !ids.insert(deletion.id).inserted { throw VaultError.noItem(deletion.id) }
        do throws(VaultError) {
            _ = try await perform(PendingMutation(.delete(deletions)))
        } catch  where error.code == .storageFull && deletions.count > 1 {
            throw VaultError(
                .limitExceeded,
                reason: "the full disk has no room to delete \(deletions.count) items at once"
            )
        }
    }

    /// Changes the label of the collection, durably.
    package func setLabel(_ label: String) async throws(VaultError) {
        try limits.check(label: label)
        _ = try await perform(PendingMutation(.rename(label)))
    }

    private var limits: VaultLimits { context.configuration.limits }
}

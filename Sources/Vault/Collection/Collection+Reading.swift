package import KeychainModel

extension Collection {
    /// Opens the secret of an item; nil when it is so large that it must be read first, by ``storedSecret(of:with:)``.
    ///
    /// Who may have a protected item is for the caller to see to; one that needs a key of its own is not opened by this. Throws
    /// `locked`, `noSuchItem`, `authenticationNeeded` for an item that needs its key or whose protection is not understood, or
    /// `unreadable` when the secret is not what was written.
    package func secret(of id: ItemID) throws(VaultError) -> Secret? {
        guard let secret = table.sealedSecret(of: id) else { throw Self.noItem(id) }
        let key = try key(for: id, secret.condition)
        guard !secret.hasKey else { throw Self.keyNeeded(id) }
        guard let sealed = secret.bytes else { return nil }
        do throws(VaultError) {
            return try key.open(sealed, item: id.rawValue, revision: secret.revision)
        } catch {
            throw noteDamage(error, of: id)
        }
    }

    /// Opens the secret of an item that needs its key; nil when it must be read first, by ``storedSecret(of:with:)``.
    ///
    /// Throws `locked`, `noSuchItem`, `authenticationNeeded` when the item has got another key meanwhile, or `unreadable` when the
    /// secret is not what was written.
    package func secret(of id: ItemID, with itemKey: ItemKey) throws(VaultError) -> Secret? {
        let (record, key) = try readable(id)
        try check(itemKey, of: record)
        guard let sealed = record.sealedSecret else { return nil }
        do throws(VaultError) {
            return try key.open(
                sealed,
                with: itemKey,
                item: id.rawValue,
                revision: record.metadata.secretRevision
            )
        } catch {
            throw noteDamage(error, of: id)
        }
    }

    /// Opens the secret that an item had in one state, wherever it is; never that of another.
    ///
    /// Throws what ``secret(of:)`` and ``secret(of:with:)`` throw, `busy` when the item has another secret by now, and what reading
    /// the disk may.
    ///
    /// - Parameter itemKey: of an item that needs one.
    package func storedSecret(
        of revision: ItemRevision,
        with itemKey: ItemKey? = nil
    ) async throws(VaultError) -> Secret {
        try checkSecret(of: revision)
        let resident =
            if let itemKey { try secret(of: revision.item, with: itemKey) } else { try secret(of: revision.item) }
        if let resident { return resident }
        guard case .file(let worker) = storage else { throw Self.closed }
        let handoff: Handoff<Secret>
        do throws(VaultError) {
            handoff = try await worker.perform { (writer) throws(VaultError) in
                try writer.secret(of: revision.item, key: itemKey, revision: revision.secret)
            }
        } catch {
            // Another may have been written meanwhile; then the one that was asked for is gone, not damaged. Who wrote it was told
            // before, but may wait to go on and to change what is in memory: an answer that is there at once is taken without a wait.
            await Task.yield()
            try checkSecret(of: revision)
            throw noteDamage(error, of: revision.item)
        }
        try checkSecret(of: revision)
        guard let secret = handoff.take() else { throw Self.closed }
        return secret
    }

    private func checkSecret(of revision: ItemRevision) throws(VaultError) {
        let id = revision.item
        guard contains(id) else { throw Self.noItem(id) }
        guard hasSecret(of: revision) else {
            throw VaultError(.busy, reason: "item \(id) was changed at the same time")
        }
    }

    static let closed = VaultError(.storageFailed, reason: "the vault is closed")

    /// Throws unless a key is the one that an item has now.
    func check(_ itemKey: ItemKey, of record: ItemRecord) throws(VaultError) {
        guard itemKey.item == record.id, itemKey.collection == identifier,
            itemKey.revision == record.metadata.wraps?.revision
        else { throw VaultError(.authenticationNeeded, reason: "the key is not that of item \(record.id) any more") }
    }

    /// An item that may be opened, as far as the collection has the say.
    func readable(_ id: ItemID) throws(VaultError) -> (ItemRecord, SecretsKey) {
        guard let record = table[id] else { throw Self.noItem(id) }
        return (record, try key(for: id, record.condition))
    }

    /// The key of the secrets, if an item may be opened with it.
    private func key(for id: ItemID, _ condition: ItemRecord.Condition) throws(VaultError) -> SecretsKey {
        guard case .unlocked(let secretsKey) = phase else {
            throw VaultError(.locked, reason: "the collection is locked")
        }
        guard condition == .intact else {
            throw VaultError(.unreadable, reason: "item \(id) is damaged")
        }
        if table.hasProtectedItems, case .unknown(let reason) = table.protection(of: id) {
            throw VaultError(.authenticationNeeded, reason: "the protection of item \(id) is not understood: \(reason)")
        }
        return secretsKey
    }

    private static func noItem(_ id: ItemID) -> VaultError {
        VaultError(.noSuchItem, reason: "there is no item \(id)")
    }

    private static func keyNeeded(_ id: ItemID) -> VaultError {
        VaultError(.authenticationNeeded, reason: "item \(id) opens with a key of its own")
    }

    private func noteDamage(_ error: VaultError, of id: ItemID) -> VaultError {
        if error.code == .unreadable, !table.isDamaged(id) {
            table.markDamaged(id, reason: "the secret is not what was written")
            problems.append("the secret of item \(id) is damaged; it is kept as it is")
        }
        return error
    }
}

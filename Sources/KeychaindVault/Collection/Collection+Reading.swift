package import KeychaindGcrypt
package import KeychaindModel

extension Collection {
    /// Opens the secret of an item; nil when it must be read from the disk with ``storedSecret(of:with:)``.
    ///
    /// The caller enforces the access control. Throws `locked`, `noSuchItem`, `authenticationNeeded` for an item with
    /// an item key or an unknown access control, and `unreadable` for a damaged secret.
    package func secret(of id: ItemID) throws(VaultError) -> Secret? {
        guard let secret = table.sealedSecret(of: id) else { throw VaultError.noItem(id) }
        let key = try key(for: id, secret.condition)
        guard !secret.hasKey else { throw Self.keyNeeded(id) }
        guard let sealed = secret.bytes else { return nil }
        do throws(VaultError) {
            return try key.open(sealed, item: id.rawValue, revision: secret.revision)
        } catch {
            throw noteDamage(error, of: id)
        }
    }

    /// Opens a secret with its item key; nil when it must be read with ``storedSecret(of:with:)``.
    ///
    /// Throws like ``secret(of:)``, and `authenticationNeeded` for a replaced item key.
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

    /// Opens the secret of a revision of an item, from memory or from the disk, or of a later one.
    ///
    /// It was the last one at some time since the call, so a program that keeps writing does not delay a reader. The
    /// item may have changed since: the caller decides about access again. Throws like ``secret(of:)``, `busy` when the
    /// revision is not the present one or when the item has another key by now, and disk errors.
    package func storedSecret(
        of revision: ItemRevision,
        with itemKey: ItemKey? = nil
    ) async throws(VaultError) -> Secret {
        try checkSecret(of: revision)
        let resident =
            if let itemKey { try secret(of: revision.item, with: itemKey) } else { try secret(of: revision.item) }
        if let resident { return resident }
        guard case .file(let worker) = storage else { throw VaultError.vaultClosed }
        let stored: CollectionWriter.StoredSecret
        do throws(VaultError) {
            stored = try await worker.perform { (writer) throws(VaultError) in
                try writer.secret(of: revision.item, key: itemKey)
            }
        } catch {
            // A concurrent write may have replaced the secret: then it is gone, not damaged. The writer has the result
            // but may not have updated the memory yet; yielding lets it.
            await Task.yield()
            try checkSecret(of: revision)
            throw noteDamage(error, of: revision.item)
        }
        // The change that brought a later secret may have brought a protection: memory has to have it first.
        if stored.revision != revision.secret { await Task.yield() }
        guard let current = self.revision(of: revision.item) else { throw VaultError.noItem(revision.item) }
        guard current.secret >= stored.revision else { throw VaultError.itemChanged(revision.item) }
        // Damage of the file would bring an earlier one back.
        guard stored.revision >= revision.secret else {
            throw noteDamage(VaultError(.unreadable, reason: "the secret is lost"), of: revision.item)
        }
        guard let secret = stored.secret.take() else { throw VaultError.vaultClosed }
        return secret
    }

    private func checkSecret(of revision: ItemRevision) throws(VaultError) {
        let id = revision.item
        guard let current = self.revision(of: id) else { throw VaultError.noItem(id) }
        guard current.secret == revision.secret else { throw VaultError.itemChanged(id) }
    }

    /// Throws unless a key is the current item key.
    func check(_ itemKey: ItemKey, of record: ItemRecord) throws(VaultError) {
        guard itemKey.item == record.id, itemKey.collection == identifier,
            itemKey.revision == record.metadata.wraps?.revision
        else { throw VaultError(.authenticationNeeded, reason: "the key of item \(record.id) has been replaced") }
    }

    /// Returns an item and the key of its secret, if the collection can open it.
    func readable(_ id: ItemID) throws(VaultError) -> (ItemRecord, SecretsKey) {
        guard let record = table[id] else { throw VaultError.noItem(id) }
        return (record, try key(for: id, record.condition))
    }

    private func key(for id: ItemID, _ condition: ItemRecord.Condition) throws(VaultError) -> SecretsKey {
        guard case .unlocked(let secretsKey) = phase else { throw VaultError.collectionLocked }
        guard condition == .intact else {
            throw VaultError(.unreadable, reason: "item \(id) is damaged")
        }
        if table.hasProtectedItems, case .unknown(let reason) = table.protection(of: id) {
            throw VaultError(.authenticationNeeded, reason: "the access control of item \(id) is unknown: \(reason)")
        }
        return secretsKey
    }

    private static func keyNeeded(_ id: ItemID) -> VaultError {
        VaultError(.authenticationNeeded, reason: "item \(id) needs its item key")
    }

    private func noteDamage(_ error: VaultError, of id: ItemID) -> VaultError {
        if error.code == .unreadable, !table.isDamaged(id) {
            table.markDamaged(id, reason: "the secret is damaged")
            if condition == .sound { condition = .damaged }
            problems.append("the secret of item \(id) is damaged and is left as it is")
        }
        return error
    }
}

extension Collection {
    package static let applicationSecretSize = SecretsKey.applicationSecretSize

    /// Derives the secret of an application from the collection's key; always the same, and stored in no item.
    ///
    /// Throws `locked`, and `notSupported` for the collection in memory.
    package func applicationSecret(for application: String) throws(VaultError) -> SecureBytes {
        guard !isEphemeral else {
            throw VaultError(.notSupported, reason: "what lives in memory has no secrets that last")
        }
        guard case .unlocked(let key) = phase else { throw VaultError.collectionLocked }
        return try cipher { () throws(GcryptError) in try key.applicationSecret(for: application) }
    }
}

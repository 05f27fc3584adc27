import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Logging

/// Creates, locks, restores and deletes collections, with their signals.
@BusActor
struct Collections {
    let vault: Vault
    let clients: PeerTable<Client>
    let changes: ChangeNotifier
    let rules: ItemRules
    let lockouts: LockoutTable
    let audit: AccessAudit
    let notices: Notices
    let limits: ServiceLimits
    let logger: Logger
    /// Serialises creations under an alias.
    private let aliasLock = KeyedLock<String>()

    // MARK: Creating and deleting

    /// Creates a collection under an alias, which may be empty; logs a failure and returns nil.
    ///
    /// Concurrent calls for one alias return the same collection (#55). One whose alias cannot be stored is deleted:
    /// the next call would create another.
    func create(label: String, alias: String, password: consuming SecureBytes) async -> Collection? {
        if alias.isEmpty { return await createOrLog(label: label, password: password) }
        await aliasLock.lock(alias)
        defer { aliasLock.unlock(alias) }
        if let collection = existing(forAlias: alias) { return collection }
        guard let collection = await createOrLog(label: label, password: password) else { return nil }
        do throws(VaultError) {
            try await vault.setAlias(alias, to: collection)
        } catch {
            logger.error("Could not store the alias of a new keychain", metadata: ["reason": "\(error)"])
            // A program may already have stored an item in it.
            guard collection.itemIDs.isEmpty else { return collection }
            try? await delete(collection, by: nil)
            return nil
        }
        return collection
    }

    private func createOrLog(label: String, password: consuming SecureBytes) async -> Collection? {
        do throws(VaultError) {
            return try await create(label: label, password: password)
        } catch {
            logger.error("Could not create a keychain", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    func create(label: String, password: consuming SecureBytes) async throws(VaultError) -> Collection {
        let collection = try await vault.createCollection(label: label, password: password)
        logger.info("Created a keychain", metadata: ["keychain": "\(collection.name)"])
        changes.collectionCreated(collection.name, all: vault.collectionPaths)
        return collection
    }

    /// Deletes a collection; `login` is recreated, vacant.
    ///
    /// - Parameters:
    ///   - limit: the most protected items that it may have when it is deleted; nil for any.
    ///   - client: the client in the audit; nil if the daemon undoes a creation.
    func delete(
        _ collection: Collection,
        withProtectedItems limit: Int? = nil,
        by client: Client?
    ) async throws(BusError) {
        let name = collection.name
        let isAudited = collection.protectedItemCount > 0
        try await translatingErrors { () async throws(VaultError) in
            try await vault.delete(collection, withProtectedItems: limit)
        }
        notices.resolve(.older, of: name)
        lockouts.forget(collection)
        if isAudited, let client { audit.deleted(.collection(name), by: client) }
        endPermissions(in: name)
        endProofs(with: name, because: "the login keychain was deleted")
        logger.info("Deleted a keychain", metadata: ["keychain": "\(name)"])
        changes.collectionDeleted(name, all: vault.collectionPaths)
        if vault.collection(named: name) != nil { changes.collectionCreated(name, all: vault.collectionPaths) }
    }

    func restore(
        _ backup: StagedBackup,
        as name: CollectionName,
        inPlaceOf present: Collection?,
        by client: Client
    ) async throws(VaultError) {
        let isAudited = (present?.protectedItemCount ?? 0) > 0
        let wasThere = vault.collection(named: name) != nil
        defer {
            // After a failure, too: the collection was reopened and is locked.
            endPermissions(in: name)
            endProofs(with: name, because: "a backup replaced the login keychain")
            if wasThere { changes.collectionDeleted(name, all: vault.collectionPaths) }
            if vault.collection(named: name) != nil { changes.collectionCreated(name, all: vault.collectionPaths) }
        }
        _ = try await vault.restore(backup, as: name, inPlaceOf: present)
        notices.resolve(.older, of: name)
        if isAudited { audit.deleted(.collection(name), by: client) }
        logger.notice(
            "Restored a keychain from a backup",
            metadata: ["keychain": "\(name)", "of": "\(backup.modified.text)"]
        )
    }

    /// Takes what is intact in a damaged collection into a new file.
    func salvage(_ collection: Collection, by client: Client) async throws(VaultError) {
        let isAudited = collection.protectedItemCount > 0
        let name = collection.name
        defer { announceReplacement(of: name, because: "the login keychain was salvaged") }
        let report = try await vault.salvage(collection)
        if isAudited { audit.deleted(.collection(name), by: client) }
        logger.notice(
            "Took what is intact out of a damaged keychain",
            metadata: [
                "keychain": "\(name)", "kept": "\(report.kept)", "from memory": "\(report.fromMemory)",
                "damaged": "\(report.damaged)", "old file": "\(report.oldFile)",
            ]
        )
    }

    /// Serves the file that another program has put in place of a collection's.
    func takeUp(_ collection: Collection) async {
        guard await vault.takeUp(collection) != nil else { return }
        announceReplacement(of: collection.name, because: "another program has replaced the login keychain")
    }

    /// Emits the signals for a collection that another object serves from now on.
    func announceReplacement(of name: CollectionName, because reason: String) {
        endPermissions(in: name)
        endProofs(with: name, because: reason)
        changes.collectionDeleted(name, all: vault.collectionPaths)
        changes.collectionCreated(name, all: vault.collectionPaths)
    }

    /// Ends the grants and answers for items whose paths may belong to others now.
    private func endPermissions(in name: CollectionName) {
        clients.endPermissions(in: name)
        rules.forget(in: name)
    }

    /// Serves the files of missing keychains that are there again.
    func takeUpReturned() async {
        for collection in vault.collections where vault.hasReturned(collection) { await takeUp(collection) }
    }

    // MARK: Labels and aliases

    func setLabel(of collection: Collection, to label: String) async throws(BusError) {
        try await translatingErrors { () async throws(VaultError) in try await collection.setLabel(label) }
        changes.labelChanged(collection)
    }

    /// Throws `LimitsExceeded` if a label is too long.
    func checkLabel(_ label: String) throws(BusError) {
        guard label.utf8.count <= vault.limits.labelBytes else {
            throw BusError(.limitsExceeded, "a label has at most \(vault.limits.labelBytes) bytes")
        }
    }

    /// Throws `LimitsExceeded` if an alias is too long.
    func checkAlias(_ alias: String) throws(BusError) {
        guard alias.utf8.count <= limits.aliasBytes else {
            throw BusError(.limitsExceeded, "an alias has at most \(limits.aliasBytes) bytes")
        }
    }

    /// The collection of an alias, unless it is vacant.
    func existing(forAlias alias: String) -> Collection? {
        guard !alias.isEmpty, let collection = vault.collection(forAlias: alias), !collection.isVacant else {
            return nil
        }
        return collection
    }

    func vacant(forAlias alias: String) -> Collection? {
        guard !alias.isEmpty, let collection = vault.collection(forAlias: alias), collection.isVacant else {
            return nil
        }
        return collection
    }

    // MARK: Locking

    /// Locks a collection; false for the one in memory, which is never locked.
    @discardableResult
    func lock(_ collection: Collection) -> Bool {
        if collection.isEphemeral { return false }
        let wasLocked = collection.isLocked
        // While a key is being derived, the lock takes effect afterwards.
        collection.lock()
        if wasLocked { return true }
        clients.endPermissions(in: collection.name)
        endProofs(with: collection.name, because: "the login keychain was locked")
        logger.info("Locked a keychain", metadata: ["keychain": "\(collection.name)"])
        changes.lockChanged(collection)
        return true
    }

    /// Ends all proofs if the collection is `login`, whose password is the passcode.
    func endProofs(with collection: CollectionName, because reason: String) {
        if collection == .login { clients.endProofs(.bySystem(reason: reason)) }
    }

    // MARK: The first password

    /// Throws `notSupported` if a vacant `login` may not get its first password now.
    ///
    /// As the passcode, a password that a program chose would open the protected items of other keychains.
    func checkFirstPassword(of collection: Collection) throws(VaultError) {
        guard collection.name == .login, collection.isVacant,
            let other = vault.collections.first(where: { $0 !== collection && $0.protectedItemCount > 0 })
        else { return }
        throw VaultError(
            .notSupported,
            reason:
                """
                the keychain '\(other.label)' has protected items, which the password of a new login keychain would \
                open; delete them first, or log in again
                """
        )
    }

    /// Whether a collection may get its first password; logs the reason if not.
    func mayGetFirstPassword(_ collection: Collection) -> Bool {
        do throws(VaultError) {
            try checkFirstPassword(of: collection)
            return true
        } catch {
            logger.error(
                "Did not create a keychain",
                metadata: ["keychain": "\(collection.name)", "reason": "\(error.reason)"]
            )
            return false
        }
    }
}

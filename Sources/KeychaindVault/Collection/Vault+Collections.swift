package import KeychaindGcrypt
import KeychaindModel

/// Creating and deleting collections.
extension Vault {
    /// Creates a collection durably, unlocked, with an unused name made from the label.
    ///
    /// Throws `emptyPassword`, `limitExceeded`, and disk errors; then nothing is left of it.
    package func createCollection(
        label: String,
        password: consuming SecureBytes
    ) async throws(VaultError) -> Collection {
        guard let context else { throw VaultError.vaultClosed }
        try limits.check(label: label)
        guard collections.count < limits.collections else {
            throw VaultError(.limitExceeded, reason: "there are too many collections")
        }
        let name = try unusedName(for: label, in: context)
        let collection = Collection(name, label: label, phase: .vacant, storage: .none, context: context)
        // Reserves the name, so that a concurrent call with the same label gets another.
        insert(collection)
        do throws(VaultError) {
            try await collection.unlock(with: password)
        } catch {
            if collection.state == .vacant {
                collections.removeAll { other in other === collection }
            }
            throw error
        }
        return collection
    }

    private func unusedName(for label: String, in context: VaultContext) throws(VaultError) -> CollectionName {
        let name = CollectionName(label: label)
        var candidate = name
        var number = 2
        while true {
            if collection(named: candidate) == nil, try !context.folder.exists(candidate.fileName) { return candidate }
            candidate = name.numbered(number)
            number += 1
        }
    }

    /// Deletes a collection, its file and its aliases (#90), durably.
    ///
    /// An empty `login` replaces a deleted one. The file becomes a past one, except that of a `login` with items bound
    /// to the passcode, which is removed with its past ones. A missing collection is forgotten. Throws `notSupported`
    /// without a file, `unreadable` for a file that a person must remove, and `busy` if the file of a missing
    /// collection is there again, or if there are too many protected items.
    ///
    /// - Parameter limit: the most protected items that the collection may have, as a person was told; nil for any.
    package func delete(
        _ collection: Collection,
        withProtectedItems limit: Int? = nil
    ) async throws(VaultError) {
        await exclusiveWork.begin(.replacement(collection.name))
        defer { exclusiveWork.end(.replacement(collection.name)) }
        guard let context else { throw VaultError.vaultClosed }
        guard !collection.hasEnded else {
            throw collection.isDeleted ? VaultError.collectionDeleted : VaultError.collectionRetired
        }
        let name = collection.name
        if !collection.isMissing, case .unreadable(let reason) = collection.state {
            throw VaultError(.unreadable, reason: reason)
        }
        let takesPast =
            name == .login && itemsBoundToPasscode.contains { bound in bound.collection === collection }
        let deletion = FileDeletion(of: name, takesPast ? .fileAndPast : .file, in: context.folder)
        if collection.isMissing {
            try await context.folderWorker.perform { (folder) throws(VaultError) in
                try folder.forgetMissing(name)
            }
            await collection.forgetFile()
        } else {
            try await collection.removeFile(by: deletion, withProtectedItems: limit)
        }
        // It is deleted, whatever comes of the rest. A copy that still runs would read the file after that.
        try? await context.copyWorker.perform { (_) throws(VaultError) in }
        try? await context.folderWorker.perform { (folder) throws(VaultError) in folder.finish(deletion) }
        removeLockouts(of: collection)
        collections.removeAll { other in other === collection }
        if name == .login { insert(Self.vacant(.login, in: context)) }
        aliases = aliases.filter { alias in alias.value != name }
        if name == .login { await removeItemsBoundToPasscode() }
    }

    private func insert(_ collection: Collection) {
        if collection.name == .login { context?.login.collection = collection }
        collections = (collections + [collection]).sorted { first, second in first.name < second.name }
    }

    /// Lists a collection in place of a retired one, if any.
    func replace(_ retired: Collection?, by collection: Collection) {
        collections.removeAll { other in other === retired }
        if collection.state == .vacant, collection.name != .login { return }
        insert(collection)
        collection.remember()
        // Told only now: before, nobody would have found a collection that waits for the disk.
        if collection.awaitsDisk { context?.observer.onProblem?(collection.name) }
    }
}

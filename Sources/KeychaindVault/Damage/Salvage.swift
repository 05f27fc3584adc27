import KeychaindModel

/// The result of a salvage.
package struct SalvageReport: Sendable {
    /// The items in the new file.
    package let kept: Int

    /// Those of them whose rows were damaged or lost, and which were in memory.
    package let fromMemory: Int

    /// The items that were found but are not genuine, nor in memory; they stay in the old file.
    package let damaged: Int

    /// The number of items at the last change; nil if it is lost.
    package let former: Int?

    /// The name of the old file, kept beside the new one.
    package internal(set) var oldFile = ""
}

/// Takes the intact rows of a damaged file into a new one, sealed as they were; others from memory, if it has them.
struct Salvage: Sendable {
    let name: CollectionName
    let folder: Folder
    let limits: VaultLimits
    let keys: CheckKeys
    let memory: ItemsInMemory?

    /// Makes the new file and checks it; nothing else changes.
    ///
    /// No connection to the old file may be open.
    func makeFile(header: CollectionHeader, state known: CollectionState) throws(VaultError) -> SalvageReport {
        let remains = try FileRemains(of: name.fileName, in: folder)
        let unfinished = name.unfinishedFileName
        try folder.removeDatabase(unfinished)
        do throws(VaultError) {
            try folder.makeEmptyFile(unfinished)
            let report = try fill(remains, header, known)
            let identifiers = remains.identifiers
            guard report.kept > report.fromMemory || identifiers.isEmpty || identifiers.contains(header.identifier)
            else {
                throw VaultError(.displaced, reason: "another keychain is in the place of \(name.fileName)")
            }
            let check = try FileCheck.run(folder.file(unfinished), .exclusive, limits: limits, keys: keys)
            guard check.isSound, check.items == report.kept else {
                throw VaultError(
                    .storageFailed,
                    reason: "the new file is not sound: \(check.findings.first ?? "items are missing")"
                )
            }
            try folder.synchronize(unfinished)
            return report
        } catch {
            try? folder.removeDatabase(unfinished)
            throw error
        }
    }

    private func fill(
        _ remains: FileRemains,
        _ header: CollectionHeader,
        _ known: CollectionState
    ) throws(VaultError) -> SalvageReport {
        let sealed = try keys.collection.openState(remains.state())
        var state = known
        let database = try Database(path: folder.file(name.unfinishedFileName), mode: .exclusive)
        try CollectionFile.fill(database, header: header, state: [])
        // If the file has changes that the memory lacks, items in memory may be deleted ones.
        let memory = sealed.map { sealed in sealed.revision > known.revision } == true ? nil : memory
        return try database.transaction { () throws(VaultError) in
            var rows = try SalvagedRows(in: database, keys: keys, nextItem: state.nextItem)
            try rows.take(from: remains, memory)
            state.nextItem = rows.nextItem
            state.revision = max(known.revision, sealed?.revision ?? 0, rows.lastRevision)
            state.itemCount = UInt64(rows.ids.count)
            state.hash = rows.hash
            try database.run("UPDATE header SET state = ?1 WHERE id = 1", .bytes(try keys.collection.seal(state)))
            return SalvageReport(
                kept: rows.ids.count,
                fromMemory: rows.fromMemory,
                damaged: rows.damaged,
                former: sealed.map { sealed in Int(clamping: sealed.itemCount) }
            )
        }
    }

    /// Puts the new file in the place of the old one, which gets the returned name.
    ///
    /// A crash leaves one or the other; the old one perhaps without its journal, which the kept one has.
    func swap(at now: Timestamp) throws(VaultError) -> String {
        let file = name.fileName
        let aside = "\(file).unreadable-\(now.microsecondsSinceEpoch / 1_000_000)"
        for suffix in ["", "-wal", "-shm"] where try folder.exists(file + suffix) {
            try folder.keepAlso(file + suffix, as: aside + suffix)
        }
        try folder.synchronize()
        do throws(VaultError) {
            // A remaining journal would be applied to the new file.
            for suffix in ["-wal", "-shm"] { try folder.remove(file + suffix) }
            try folder.replace(file, by: name.unfinishedFileName)
        } catch {
            try? InterruptedSwap.giveBack(file, in: folder)
            throw error
        }
        return aside
    }
}

extension Vault {
    /// Takes the intact items of a damaged collection into a new file, and keeps the old one beside it.
    ///
    /// An item that is whole in memory is kept, too. The collection must be unlocked, and stays so; its object is
    /// another one afterwards. What the ledger protects stays protected. Throws `locked`, `notSupported` for a sound
    /// collection, and disk errors; then nothing has changed, unless the reason says that this is unknown.
    package func salvage(
        _ collection: Collection
    ) async throws(VaultError) -> (report: SalvageReport, collection: Collection) {
        await replacements.lock(collection.name)
        defer { replacements.unlock(collection.name) }
        guard let context else { throw VaultError.vaultClosed }
        guard !collection.hasEnded, self.collection(named: collection.name) === collection else {
            throw VaultError.collectionDeleted
        }
        guard collection.canBeSalvaged else {
            throw VaultError(.notSupported, reason: "the keychain is not damaged")
        }
        guard case .unlocked = collection.phase, let keys = collection.checkKeys, let header = collection.header,
            let handover = collection.handover
        else { throw VaultError.collectionLocked }
        // Doubts about items must outlast the file that they came from.
        try await collection.storeLedger()
        let now = context.configuration.now()
        await collection.retire()
        let state = collection.properties
        let salvage = Salvage(
            name: collection.name,
            folder: context.folder,
            limits: context.configuration.limits,
            keys: keys,
            memory: ItemsInMemory(table: collection.table, indexKey: context.indexKey, keys: keys)
        )
        var result: Result<SalvageReport, VaultError>
        do throws(VaultError) {
            result = .success(
                try await context.copyWorker.perform { (_) throws(VaultError) in
                    var report = try salvage.makeFile(header: header, state: state)
                    report.oldFile = try salvage.swap(at: now)
                    return report
                }
            )
        } catch {
            result = .failure(error)
        }
        let new = await Self.collection(collection.name, known: collection.former, in: context)
        replace(collection, by: new)
        _ = try? await new.unlock(with: handover)
        switch result {
        case .success: onChange?(collection.name)
        case .failure: new.keepMemory(of: collection)
        }
        return (try result.get(), new)
    }
}

extension Collection {
    /// Stores the ledger as it is in memory; throws if it could not be read.
    fileprivate func storeLedger() async throws(VaultError) {
        guard let keys else { throw VaultError.collectionLocked }
        switch ledger {
        case .known(let ledger), .outdated(let ledger, _):
            // With the marks of lost items: those may come back from a past state.
            let sealed = try keys.seal(ledger)
            try await context.folderWorker.perform { (folder) throws(VaultError) in
                try folder.setLedger(sealed, of: keys.collection)
            }
        case .unavailable(let error): throw error
        case .unread: throw VaultError.collectionLocked
        }
    }
}

import KeychainModel
import Logging

/// The state of a collection's ledger.
enum LedgerPhase {
    /// The collection has not been read yet, or lives in memory.
    case unread

    /// The ledger as it is, or is being, stored in `state.db`.
    case known(ProtectionLedger)

    /// The ledger cannot be read from `state.db`.
    case unavailable(VaultError)
}

extension Collection {
    /// Reads the stored ledger; nil if there is none.
    func storedLedger(_ keys: CollectionKeys) async -> Result<ProtectionLedger?, VaultError> {
        do throws(VaultError) {
            let sealed = try await context.clerk.perform { (folder) throws(VaultError) in
                try folder.ledger(of: keys.collection)
            }
            guard let sealed else { return .success(nil) }
            return .success(try keys.openLedger(sealed))
        } catch {
            return .failure(error)
        }
    }

    /// Applies the ledger to a loaded collection.
    ///
    /// - Parameters:
    ///   - isWhole: whether the rows match the sealed state.
    ///   - state: the sealed state; nil when it is damaged.
    func adopt(
        _ stored: Result<ProtectionLedger?, VaultError>,
        isWhole: Bool,
        state: CollectionState?,
        _ keys: CollectionKeys
    ) throws(VaultError) {
        switch stored {
        case .success(let ledger?):
            let restored = try table.restoreProtection(from: ledger, indexKey: context.indexKey)
            if let state, state.revision < ledger.revision {
                problems.append(
                    "the file was rolled back to an older one; items that were protected later stay protected"
                )
            } else if restored > 0 {
                problems.append(
                    "\(restored) of its items were rolled back to an unprotected revision; they stay protected"
                )
            }
            skipNumbers(of: ledger)
            self.ledger = .known(ledger)
        case .success(nil):
            var ledger = ledgerOfFile()
            if !isWhole {
                for id in table.doubtOpenItems() { ledger.marks[id] = .doubtful }
                problems.append(Self.doubt)
            }
            self.ledger = .known(ledger)
            if state != nil { keepLater(ledger, keys) }
        case .failure(let error):
            if !isWhole {
                _ = table.doubtOpenItems()
                problems.append(Self.doubt)
            }
            ledger = .unavailable(error)
            ledgerProblem = """
                the ledger of its protected items cannot be read, so a rollback would go unnoticed: \(error.reason)
                """
        }
    }

    /// Records new protection before a change is written.
    ///
    /// Returns the previous ledger; nil if nothing changed.
    func strengthenLedger(for change: CollectionChange) async throws(VaultError) -> ProtectionLedger? {
        let known = try await knownLedger(for: change)
        guard let known, var ledger = known.strengthened(by: change.rows) else { return nil }
        ledger.revision = max(ledger.revision, properties.revision)
        ledger.nextItem = max(ledger.nextItem, properties.nextItem)
        try await keep(ledger)
        return known
    }

    /// Records removed protection after a change was written.
    ///
    /// After a failure, the next start protects the items again.
    func weakenLedger(for change: CollectionChange) async {
        guard case .known(let known) = ledger, var ledger = known.weakened(by: change.rows) else { return }
        ledger.revision = max(ledger.revision, properties.revision)
        ledger.nextItem = max(ledger.nextItem, properties.nextItem)
        do throws(VaultError) {
            try await keep(ledger)
        } catch {
            context.configuration.logger.warning("\(name): \(error)")
            ledgerProblem =
                "the removal of a protection was not stored; the next start may restore it: \(error.reason)"
        }
    }

    /// Restores the ledger after a failed change.
    func restoreLedger(_ old: ProtectionLedger, after error: VaultError) async {
        if case .known(let noted) = ledger { skipNumbers(of: noted) }
        // After a failed sync, the change may be on the disk.
        guard error.code != .storageFailed else { return }
        do throws(VaultError) {
            try await keep(old)
        } catch {
            context.configuration.logger.warning("\(name): the ledger marks an unprotected item as protected: \(error)")
        }
    }

    /// Stores a ledger without waiting.
    func keepLater(_ ledger: ProtectionLedger, _ keys: CollectionKeys) {
        guard let sealed = try? keys.seal(ledger) else { return }
        let logger = context.configuration.logger
        context.clerk.post { [name] folder in
            do throws(VaultError) {
                try folder.setLedger(sealed, of: keys.collection)
            } catch {
                logger.warning("\(name): the ledger of protected items could not be stored: \(error)")
            }
        }
    }

    private static let doubt = """
        some of its items may have been protected: each of its open items needs authentication, \
        until it is stored again
        """

    /// Returns the ledger; reads it again if an earlier attempt failed and the change needs it.
    private func knownLedger(for change: CollectionChange) async throws(VaultError) -> ProtectionLedger? {
        switch ledger {
        case .known(let ledger): return ledger
        case .unread: return nil
        case .unavailable:
            guard ProtectionLedger().strengthened(by: change.rows) != nil, let keys else { return nil }
            // The items in memory stay as they are until the next start: the change is based on them.
            let ledger = try await storedLedger(keys).get() ?? ledgerOfFile()
            self.ledger = .known(ledger)
            ledgerProblem = nil
            return ledger
        }
    }

    /// Creates a ledger from the protected items of the file.
    private func ledgerOfFile() -> ProtectionLedger {
        var ledger = ProtectionLedger()
        ledger.revision = properties.revision
        ledger.nextItem = properties.nextItem
        guard hasProtectedItems else { return ledger }
        for id in table.ids {
            guard let record = table[id], let attributes = record.metadata.attributes.protection else { continue }
            ledger.marks[id] = .protected(since: record.revision, attributes)
        }
        return ledger
    }

    private func keep(_ ledger: ProtectionLedger) async throws(VaultError) {
        guard let keys else { throw Self.closed }
        var ledger = ledger
        ledger.forgetDeleted(table.contains)
        let sealed = try keys.seal(ledger)
        try await context.clerk.perform { (folder) throws(VaultError) in
            try folder.setLedger(sealed, of: keys.collection)
        } afterwards: { folder in
            folder.shortenJournal()
        }
        self.ledger = .known(ledger)
        ledgerProblem = nil
    }

    /// Skips IDs and revisions that a newer file may have used.
    private func skipNumbers(of ledger: ProtectionLedger) {
        properties.nextItem = max(properties.nextItem, ledger.unusedItem)
        for case .protected(let since, _) in ledger.marks.values {
            properties.revision = max(properties.revision, since)
        }
        properties.revision = max(properties.revision, ledger.revision)
    }
}

import KeychainModel
import Logging

/// What a collection knows of its ledger.
enum LedgerPhase {
    /// The collection has not been read yet, or is in memory only.
    case unread

    /// This is what `state.db` has, or what it is about to have.
    case known(ProtectionLedger)

    /// `state.db` does not give it.
    case unavailable(VaultError)
}

extension Collection {
    /// The ledger as it is stored; nil if there is none.
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

    /// Has the ledger count for what was just read from the file.
    ///
    /// - Parameters:
    ///   - isWhole: whether the rows are those that were written.
    ///   - state: the sealed state of the file; nil when it is damaged.
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
                    "this file is older than the last one written; items that were protected since stay protected"
                )
            } else if restored > 0 {
                problems.append(
                    "\(restored) of its items were protected since they were written as they are now; they stay protected"
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
                the record of its protected items cannot be read, so an older file would not be recognised: \(error.reason)
                """
        }
    }

    /// Notes, before a change is written, which items it protects.
    ///
    /// - Returns: the ledger as it was; nil if it has not changed.
    func strengthenLedger(for change: CollectionChange) async throws(VaultError) -> ProtectionLedger? {
        let known = try await knownLedger(for: change)
        guard let known, var ledger = known.strengthened(by: change.rows) else { return nil }
        ledger.revision = max(ledger.revision, properties.revision)
        ledger.nextItem = max(ledger.nextItem, properties.nextItem)
        try await keep(ledger)
        return known
    }

    /// Notes, after a change was written, which items are no longer protected.
    ///
    /// Where that fails, they are protected again after the next start.
    func weakenLedger(for change: CollectionChange) async {
        guard case .known(let known) = ledger, var ledger = known.weakened(by: change.rows) else { return }
        ledger.revision = max(ledger.revision, properties.revision)
        ledger.nextItem = max(ledger.nextItem, properties.nextItem)
        do throws(VaultError) {
            try await keep(ledger)
        } catch {
            context.configuration.logger.warning("\(name): \(error)")
            ledgerProblem = "an item's protection was taken off, and may be back after the next start: \(error.reason)"
        }
    }

    /// Takes back what was noted of a change that was not written.
    func restoreLedger(_ old: ProtectionLedger, after error: VaultError) async {
        if case .known(let noted) = ledger { skipNumbers(of: noted) }
        // After a failed sync nobody knows whether the change is on the disk.
        guard error.code != .storageFailed else { return }
        do throws(VaultError) {
            try await keep(old)
        } catch {
            context.configuration.logger.warning("\(name): an item counts as protected that is not: \(error)")
        }
    }

    /// Keeps a ledger that nobody has to wait for.
    func keepLater(_ ledger: ProtectionLedger, _ keys: CollectionKeys) {
        guard let sealed = try? keys.seal(ledger) else { return }
        let logger = context.configuration.logger
        context.clerk.post { [name] folder in
            do throws(VaultError) {
                try folder.setLedger(sealed, of: keys.collection)
            } catch {
                logger.warning("\(name): which items are protected is not kept: \(error)")
            }
        }
    }

    private static let doubt = """
        whether some of its items were protected is not known: each is used only after a person has been authenticated, \
        until it is stored anew
        """

    /// The ledger, which is read now if that was not possible before and a change needs it.
    private func knownLedger(for change: CollectionChange) async throws(VaultError) -> ProtectionLedger? {
        switch ledger {
        case .known(let ledger): return ledger
        case .unread: return nil
        case .unavailable:
            guard ProtectionLedger().strengthened(by: change.rows) != nil, let keys else { return nil }
            // What is in memory stays as it is until the next start: the change was worked out from that.
            let ledger = try await storedLedger(keys).get() ?? ledgerOfFile()
            self.ledger = .known(ledger)
            ledgerProblem = nil
            return ledger
        }
    }

    /// What the file itself says of its protected items.
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

    /// Gives out no number that an item of a newer file may have.
    private func skipNumbers(of ledger: ProtectionLedger) {
        properties.nextItem = max(properties.nextItem, ledger.unusedItem)
        for case .protected(let since, _) in ledger.marks.values {
            properties.revision = max(properties.revision, since)
        }
        properties.revision = max(properties.revision, ledger.revision)
    }
}

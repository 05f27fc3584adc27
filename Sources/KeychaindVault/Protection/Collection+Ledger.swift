import KeychaindModel
import Logging

enum LedgerPhase {
    /// The collection has not been read yet, or lives in memory.
    case unread

    /// The ledger as it is, or is being, stored in `state`.
    case known(ProtectionLedger)

    /// The same, but `state` still marks items as protected that no longer are.
    case outdated(ProtectionLedger, VaultError)

    /// The ledger cannot be read from `state`.
    case unavailable(VaultError)

    var known: ProtectionLedger? {
        switch self {
        case .known(let ledger), .outdated(let ledger, _): ledger
        case .unread, .unavailable: nil
        }
    }

    /// Whether it has known protected items, deleted ones among them.
    var hasMarks: Bool {
        switch self {
        case .known(let ledger), .outdated(let ledger, _): !ledger.marks.isEmpty
        case .unread, .unavailable: false
        }
    }

    var hasProblem: Bool {
        switch self {
        case .unread, .known: false
        case .outdated, .unavailable: true
        }
    }

    var problem: String? {
        switch self {
        case .unread, .known: nil
        case .outdated(_, let error):
            "the removal of a protection was not stored; the next start may restore it: \(error.reason)"
        case .unavailable(let error):
            "the ledger of its protected items cannot be read, so a rollback would go unnoticed: \(error.reason)"
        }
    }
}

extension Collection {
    /// A ledger, and whether protections may be missing in it.
    typealias StoredLedger = (ledger: ProtectionLedger, mayLackProtections: Bool)

    func storedLedger(_ keys: CollectionKeys) async -> Result<StoredLedger?, VaultError> {
        do throws(VaultError) {
            let stored = try await context.folderWorker.perform { (folder) throws(VaultError) in
                try folder.ledger(of: keys.collection)
            }
            guard let stored else { return .success(nil) }
            return .success((try keys.openLedger(stored.sealed), stored.mayLackProtections))
        } catch {
            return .failure(error)
        }
    }

    /// Applies the ledger to a loaded collection; `isWhole` when nothing of its file is missing.
    func adopt(
        _ stored: Result<StoredLedger?, VaultError>,
        isWhole: Bool,
        state: CollectionState,
        _ keys: CollectionKeys
    ) throws(VaultError) {
        let state = RestoredState(revision: state.revision, hash: try state.fingerprint)
        switch stored {
        case .success((var ledger, let mayLackProtections)?):
            let unprotected = try table.restoreProtection(from: ledger, indexKey: context.indexKey)
            let isChanged = ledger.noteRestoration(
                of: state,
                isRestored: isWhole && restoredPosition != nil && restoredPosition == position,
                unprotected: unprotected
            )
            rollback = ledger.rollback(of: state, unprotected: unprotected)
            skipNumbers(of: ledger)
            guard mayLackProtections else {
                self.ledger = .known(ledger)
                if isChanged { keepLater(ledger, keys) }
                return
            }
            ledger.marks.merge(ledgerOfFile().marks) { known, _ in known }
            if !isWhole {
                for id in table.doubtOpenItems() { ledger.marks[id] = .doubtful }
                problems.append(Self.doubt)
            }
            self.ledger = .known(ledger)
            keepLater(ledger, keys)
        case .success(nil):
            var ledger = ledgerOfFile()
            if !isWhole {
                for id in table.doubtOpenItems() { ledger.marks[id] = .doubtful }
                problems.append(Self.doubt)
            }
            self.ledger = .known(ledger)
            keepLater(ledger, keys)
        case .failure(let error):
            if !isWhole {
                _ = table.doubtOpenItems()
                problems.append(Self.doubt)
            }
            ledger = .unavailable(error)
        }
    }

    /// Records that the restored file has changed, so that it would be a rollback from now on.
    func endRestoration(by change: CollectionChange) {
        guard case .known(var known) = ledger, let keys, known.endRestoration(by: change.rows) else { return }
        ledger = .known(known)
        keepLater(known, keys)
    }

    /// Records new protection before a change is written; returns the previous ledger, or nil if nothing changed.
    func strengthenLedger(for change: CollectionChange) async throws(VaultError) -> ProtectionLedger? {
        let known = try await knownLedger(for: change)
        guard let known, var ledger = known.strengthened(by: change.rows) else { return nil }
        ledger.revision = max(ledger.revision, properties.revision)
        ledger.nextItem = max(ledger.nextItem, properties.nextItem)
        try await keep(ledger)
        return known
    }

    /// Records removed protection after a change; if that fails, the next start protects the items again.
    func weakenLedger(for change: CollectionChange) async {
        guard let known = ledger.known, var ledger = known.weakened(by: change.rows) else { return }
        ledger.revision = max(ledger.revision, properties.revision)
        ledger.nextItem = max(ledger.nextItem, properties.nextItem)
        do throws(VaultError) {
            try await keep(ledger)
        } catch {
            context.configuration.logger.warning("\(name): \(error)")
            self.ledger = .outdated(known, error)
        }
    }

    func restoreLedger(_ old: ProtectionLedger, after error: VaultError) async {
        if let noted = ledger.known { skipNumbers(of: noted) }
        // After a failed sync, the change may be on the disk.
        guard error.code != .storageFailed else { return }
        do throws(VaultError) {
            try await keep(old)
        } catch {
            context.configuration.logger.warning("\(name): the ledger marks an unprotected item as protected: \(error)")
        }
    }

    func keepLater(_ ledger: ProtectionLedger, _ keys: CollectionKeys) {
        guard let sealed = try? keys.seal(ledger) else { return }
        let logger = context.configuration.logger
        context.folderWorker.post { [name] folder in
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
        case .known(let ledger), .outdated(let ledger, _): return ledger
        case .unread: return nil
        case .unavailable:
            guard ProtectionLedger().strengthened(by: change.rows) != nil, let keys else { return nil }
            // The items in memory stay as they are until the next start: the change is based on them.
            let ledger = try await storedLedger(keys).get()?.ledger ?? ledgerOfFile()
            self.ledger = .known(ledger)
            return ledger
        }
    }

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
        guard let keys else { throw VaultError.vaultClosed }
        var ledger = ledger
        ledger.forgetDeleted(table.contains)
        let sealed = try keys.seal(ledger)
        try await context.folderWorker.perform { (folder) throws(VaultError) in
            try folder.setLedger(sealed, of: keys.collection)
        }
        self.ledger = .known(ledger)
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

extension ItemTable {
    /// Restores protection that the ledger records and the file lacks; returns the revisions of the changed items.
    mutating func restoreProtection(
        from ledger: ProtectionLedger,
        indexKey: BlindIndexKey
    ) throws(VaultError) -> [ItemID: UInt64] {
        var revisions: [ItemID: UInt64] = [:]
        for (id, mark) in ledger.marks {
            guard let record = self[id], record.condition == .intact else { continue }
            switch mark {
            case .doubtful:
                guard !protection(of: id).needsAuthentication else { continue }
                doubt(record)
            case .protected(let since, let attributes):
                guard let restored = Self.restored(record, since: since, attributes) else { continue }
                let oldTags = try indexKey.tags(ofItem: record.metadata.attributes)
                replace(restored, oldTags: oldTags, newTags: try indexKey.tags(ofItem: restored.metadata.attributes))
            }
            revisions[id] = record.revision
        }
        return revisions
    }

    /// Requires authentication for every open item until it is written again; returns their IDs.
    mutating func doubtOpenItems() -> [ItemID] {
        var doubtful: [ItemID] = []
        for id in ids {
            guard let record = self[id], record.condition == .intact, !protection(of: id).needsAuthentication else {
                continue
            }
            doubt(record)
            doubtful.append(id)
        }
        return doubtful
    }

    private mutating func doubt(_ record: ItemRecord) {
        let name = ReservedAttribute.accessControl.rawValue
        let attributes = record.metadata.attributes.setting(name, to: Constraint.userPresence.rawValue)
        impose(ItemProtection(of: attributes), on: record.id)
    }

    /// Returns an item with its recorded protection; nil if it has that or one that is as good.
    private static func restored(_ record: ItemRecord, since: UInt64, _ known: Attributes) -> ItemRecord? {
        let attributes = record.metadata.attributes
        // A rolled-back row cannot remove what a key enforces.
        guard record.metadata.wraps == nil, attributes.protection != known else { return nil }
        let own = ItemProtection(of: attributes)
        if case .unknown = own { return nil }
        let policy = ItemProtection(of: known).policy
        let losesKey = own.keyAlternatives == nil && policy?.keyAlternatives != nil
        if own.needsAuthentication, record.revision >= since, !losesKey { return nil }
        var restored = record
        restored.metadata.attributes = attributes.withProtection(known)
        // This revision has no item key, so nothing could verify the application password.
        if policy?.factors.contains(.applicationPassword) == true {
            restored.metadata.attributes = restored.metadata.attributes.setting(
                ReservedAttribute.accessControl.rawValue,
                to: Constraint.devicePasscode.rawValue
            )
        }
        return restored
    }
}

import KeychaindGcrypt
import KeychaindModel

/// Reading the items with their keys.
extension CollectionWriter {
    /// - Parameter table: the table from ``open()``; its index is valid unless the tags are stale.
    func load(
        _ keys: CollectionKeys,
        _ secretsKey: SecretsKey,
        into table: ItemTable
    ) throws(VaultError) -> LoadedContents {
        var contents = try rows(keys, into: table)
        if let problem = header?.problem { contents.problems.append(problem) }
        takeState(of: &contents)
        if let refusal = changes.refusal { contents.problems.append(refusal.reason) }
        if remains != nil {
            contents.condition = .incomplete
        } else if !contents.problems.isEmpty {
            contents.condition = .damaged
        }
        if remains == nil, header?.indexKey != indexKey.fingerprint {
            do throws(VaultError) {
                try retag(contents.table, keys: keys)
            } catch {
                contents.problems.append("its search index could not be rebuilt: \(error.reason)")
            }
        }
        self.keys = keys
        self.secretsKey = secretsKey
        file?.releaseMemory()
        return contents
    }

    /// Reads the rows; of a damaged file, those that can be read.
    private func rows(_ keys: CollectionKeys, into table: ItemTable) throws(VaultError) -> LoadedContents {
        do throws(VaultError) {
            return try retryingRead(until: looksSound) { (isAgain) throws(VaultError) in
                if isAgain, remains == nil { _ = try reopenFile() }
                // The rows of a damaged file may be in another order than when it was opened.
                return try rows(of: source(), keys, into: isAgain || remains != nil ? ItemTable() : table)
            }
        } catch {
            guard error.leavesRemains, remains == nil else { throw error }
            var contents = try rows(of: openRemains(after: error), keys, into: ItemTable())
            contents.failure = error.isTriedAgain ? error : nil
            return contents
        }
    }

    /// Keeps the state for the next change; without one, changes are refused.
    private func takeState(of contents: inout LoadedContents) {
        if var state = contents.sealedState {
            // A damaged row may have an ID that was never assigned; the next ID must be higher.
            if let above = contents.table.highestID.flatMap({ id in ItemID(rawValue: id.rawValue + 1) }) {
                state.nextItem = max(state.nextItem, above.rawValue)
            }
            contents.sealedState = state
            self.state = state
        } else if changes.refusal == nil {
            let reason = "the sealed state is damaged, so the collection cannot be changed"
            changes = .refused(VaultError(.unreadable, reason: reason))
        }
    }

    private func looksSound(_ contents: LoadedContents) -> Bool {
        contents.problems.isEmpty && contents.sealedState != nil || remains != nil
    }

    private func rows(
        of source: any CollectionSource,
        _ keys: CollectionKeys,
        into table: ItemTable
    ) throws(VaultError) -> LoadedContents {
        guard let header else { throw VaultError.vaultClosed }
        let tagsAreStale = header.indexKey != indexKey.fingerprint
        var loader = try CollectionLoader(
            into: tagsAreStale ? ItemTable() : table,
            keys: keys,
            indexKey: tagsAreStale ? indexKey : nil,
            residentSecretBytes: configuration.limits.residentSecretBytes
        )
        return try loader.load(from: source)
    }

    /// Throws `wrongPassword` unless the collection was sealed with these keys.
    func checkKeys(_ keys: CollectionKeys) throws(VaultError) {
        let state = try source().state()
        // A damaged file may have lost it.
        guard remains == nil || !state.isEmpty else { return }
        try keys.check(sealedState: state)
    }

    private func retag(_ table: ItemTable, keys: CollectionKeys) throws(VaultError) {
        let file = try writableFile()
        var rows: [(id: ItemID, revision: UInt64, tags: [UInt8], metadata: [UInt8])] = []
        for id in table.ids {
            guard let record = table[id], record.condition == .intact else { continue }
            let tags = RowSealer.encode(try indexKey.tags(ofItem: record.metadata.attributes))
            let metadata = try cipher { () throws(GcryptError) in
                try keys.seal(record.metadata, of: id, revision: record.revision, tags: tags)
            }
            rows.append((id, record.revision, tags, metadata))
        }
        let doubt = try file.retag(rows, indexKey: indexKey.fingerprint)
        header?.indexKey = indexKey.fingerprint
        if let doubt { throw doubt }
    }
}

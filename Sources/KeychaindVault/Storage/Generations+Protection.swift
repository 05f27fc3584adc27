import KeychaindGcrypt
import KeychaindModel
import Logging

extension Generations {
    /// Removes items from all generations in which they need less authentication than now.
    ///
    /// A generation that cannot be changed is removed, unless the cause may pass.
    func removeUnprotected(
        _ protections: [ItemID: ItemProtection],
        keys: CollectionKeys,
        configuration: VaultConfiguration
    ) throws(VaultError) {
        guard try source.exists(Self.folderName) else { return }
        for generation in try existing() {
            do throws(VaultError) {
                try removeUnprotected(protections, from: generation, keys: keys, configuration: configuration)
            } catch {
                // The change fails too, and both can be tried again.
                if error.isTriedAgain { throw error }
                configuration.logger.warning(
                    "\(generation) is removed, because it holds unprotected copies of protected items: \(error)"
                )
                try folder.removeDatabase(generation)
                try folder.synchronize()
            }
        }
    }

    private func removeUnprotected(
        _ protections: [ItemID: ItemProtection],
        from generation: String,
        keys: CollectionKeys,
        configuration: VaultConfiguration
    ) throws(VaultError) {
        let file = try CollectionFile(generation, in: folder, limits: configuration.limits, maximumPages: nil)
        // The generation is from a deleted collection of the same name.
        guard try file.header().identifier == keys.collection else { return }
        if let obstacle = file.obstacle { throw obstacle }
        guard var state = try keys.openState(file.state()) else {
            throw VaultError(.unreadable, reason: "its sealed state is damaged")
        }
        var writes: [CollectionFile.Write] = []
        for (id, protection) in protections {
            guard let row = try file.row(of: id), !row.isProtected(as: protection, item: id, keys: keys) else {
                continue
            }
            let hash = try cipher { () throws(GcryptError) in try keys.hash(item: id.rawValue, revision: row.revision) }
            state.hash.subtract(hash)
            if state.itemCount > 0 { state.itemCount -= 1 }
            writes.append(.delete(id: id))
        }
        if !writes.isEmpty {
            let sealed = try keys.seal(state)
            let doubt = try file.write(writes, label: state.label, modified: state.modified, state: sealed)
            if let doubt { throw doubt }
        }
        // The file has the old pages until the checkpoint.
        try file.finish(isSound: true)
        // A generation is a single file, without a journal.
        try file.database.execute("PRAGMA journal_mode = DELETE")
    }
}

/// A row of the item table, without the secret.
struct StoredRow {
    let revision: UInt64

    let tags: [UInt8]
    let metadata: [UInt8]

    /// Whether the row has the same policy and key material as a protection.
    func isProtected(as protection: ItemProtection, item: ItemID, keys: CollectionKeys) -> Bool {
        let place = AssociatedData(metadataOf: item, revision: revision, tags: tags, collection: keys.collection)
        guard let plaintext = try? keys.open(metadata, for: place),
            let metadata = plaintext.withUnsafeBytes({ bytes in ItemMetadata(decoding: bytes) })
        else { return false }
        return ItemProtection(of: metadata.attributes).policy == protection.policy
            && metadata.wraps?.alternatives == protection.keyAlternatives
    }
}

extension CollectionFile {
    fileprivate func row(of id: ItemID) throws(VaultError) -> StoredRow? {
        let row = try database.prepare("SELECT revision, tags, metadata FROM item WHERE id = ?1")
        try row.bind(Int64(id.rawValue), at: 1)
        guard try row.step() else { return nil }
        return StoredRow(
            revision: UInt64(bitPattern: row.integer(at: 0)),
            tags: Array(row.bytes(at: 1)),
            metadata: Array(row.bytes(at: 2))
        )
    }
}

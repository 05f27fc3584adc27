import Gcrypt
import KeychainModel
import Logging

/// Past generations of items that have become protected since.
extension Generations {
    /// Removes the states of items that open with less than is asked for now, from every generation.
    ///
    /// A generation in which that cannot be done is removed, unless the disk is full or cannot be written.
    func withdraw(
        _ protections: [ItemID: ItemProtection],
        keys: CollectionKeys,
        configuration: VaultConfiguration
    ) throws(VaultError) {
        guard source.contains(Self.folderName) else { return }
        for generation in try existing() {
            do throws(VaultError) {
                try withdraw(protections, from: generation, keys: keys, configuration: configuration)
            } catch {
                // There may be room later; then the change is made, and this with it.
                if [.storageFull, .readOnly, .limitExceeded].contains(error.code) { throw error }
                configuration.logger.warning(
                    "\(generation) is removed, since it has items that are protected now: \(error)"
                )
                for suffix in ["", "-wal", "-shm"] { try folder.remove(generation + suffix) }
                try folder.synchronize()
            }
        }
    }

    private func withdraw(
        _ protections: [ItemID: ItemProtection],
        from generation: String,
        keys: CollectionKeys,
        configuration: VaultConfiguration
    ) throws(VaultError) {
        let file = try CollectionFile(generation, in: folder, limits: configuration.limits, maximumPages: nil)
        // A collection of the same name that was deleted: its items are others.
        guard try file.header().identifier == keys.collection else { return }
        if let obstacle = file.obstacle { throw obstacle }
        var state = try file.openState(with: keys)
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
            let place = AssociatedData(collection: keys.collection, column: .state)
            let sealed = try cipher { [state] () throws(GcryptError) in try keys.seal(state.encoded, for: place) }
            try file.write(writes, label: state.label, modified: state.modified, state: sealed, version: 0)
        }
        // The file has the pages as they were until the journal, which has them as they are now, is moved into it.
        try file.finish(isSound: true)
        // A copy of a generation is one file.
        try file.database.execute("PRAGMA journal_mode = DELETE")
    }
}

/// An item as a file has it, apart from the secret.
struct StoredRow {
    /// The revision of its last change.
    let revision: UInt64

    /// Its blind tags.
    let tags: [UInt8]

    /// Its metadata, sealed.
    let metadata: [UInt8]

    /// Whether it takes as much to open as an item with a protection does.
    func isProtected(as protection: ItemProtection, item: ItemID, keys: CollectionKeys) -> Bool {
        var place = AssociatedData(collection: keys.collection, column: .metadata)
        place.set(item: item.rawValue, column: .metadata, revision: revision)
        tags.withUnsafeBytes { tags in place.set(suffix: tags) }
        var plaintext: [UInt8] = []
        guard
            let size = try? metadata.withRawBytes({ (sealed) throws(GcryptError) in
                try keys.open(sealed, for: place, into: &plaintext)
            }),
            let metadata = plaintext.withUnsafeBytes({ bytes in
                ItemMetadata(decoding: UnsafeRawBufferPointer(rebasing: bytes[..<size]))
            })
        else { return false }
        return ItemProtection(of: metadata.attributes).policy == protection.policy
            && metadata.wraps?.alternatives == protection.keyAlternatives
    }
}

extension CollectionFile {
    /// The row of an item; nil if there is none.
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

    /// The state of the collection; `unreadable` when it is not what was sealed.
    fileprivate func openState(with keys: CollectionKeys) throws(VaultError) -> CollectionState {
        var plaintext: [UInt8] = []
        let place = AssociatedData(collection: keys.collection, column: .state)
        let sealed = try state()
        let size = try cipher { () throws(GcryptError) in
            try sealed.withRawBytes { (sealed) throws(GcryptError) in
                try keys.open(sealed, for: place, into: &plaintext)
            }
        }
        let state = plaintext.withUnsafeBytes { bytes in
            CollectionState(decoding: UnsafeRawBufferPointer(rebasing: bytes[..<size]))
        }
        guard let state else { throw VaultError(.unreadable, reason: "its state has a form that is not known") }
        return state
    }
}

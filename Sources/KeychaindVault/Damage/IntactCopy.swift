import KeychaindModel

/// A past state or a backup of a damaged keychain, which has items that the keychain has lost.
struct IntactCopy {
    /// The most items that are named.
    private static let maximumLost = 100

    /// Such as `backup:login.keychain`.
    private let id: String
    private let remains: FileRemains
    /// The copy of a backup, which goes when this goes.
    private let staged: StagedBackup?

    /// Nil if the copy cannot be read, or is of another keychain.
    private init?(_ id: String, of keys: CollectionKeys, file: String, in folder: Folder, staged: StagedBackup? = nil) {
        guard let remains = try? FileRemains(of: file, in: folder), remains.identifiers.contains(keys.collection) else {
            return nil
        }
        self.id = id
        self.remains = remains
        self.staged = staged
    }

    /// Names the items that are not present, each with the newer one of the newest generation and backup that has it.
    ///
    /// Blocks.
    static func lost(
        from present: Set<ItemID>,
        of name: CollectionName,
        _ keys: CollectionKeys,
        in folder: Folder,
        _ copies: KeychainCopies
    ) -> [String] {
        let all = [newestGeneration(of: name, keys, in: folder), newestBackup(of: name, keys, in: folder, copies)]
        var known = present
        var lost: [String] = []
        for past in all.compactMap(\.self).sorted(by: { $0.remains.lastRevision > $1.remains.lastRevision }) {
            past.name(&lost, notIn: &known, keys)
        }
        return lost
    }

    private static func newestGeneration(of name: CollectionName, _ keys: CollectionKeys, in folder: Folder) -> Self? {
        let generations = Generations(of: name, in: folder, keeping: 0)
        for file in ((try? generations.existing()) ?? []).reversed() {
            if let past = Self("generation:\(file)", of: keys, file: file, in: generations.folder) { return past }
        }
        return nil
    }

    private static func newestBackup(
        of name: CollectionName,
        _ keys: CollectionKeys,
        in folder: Folder,
        _ copies: KeychainCopies
    ) -> Self? {
        let id = "backup:\(name.encoded).keychain"
        guard let staged = try? copies.stage(id) else { return nil }
        return Self(id, of: keys, file: staged.file, in: staged.folder, staged: staged)
    }

    private func name(_ lost: inout [String], notIn known: inout Set<ItemID>, _ keys: CollectionKeys) {
        var verifier = RowVerifier(CheckKeys(collection: keys, secrets: nil))
        try? remains.forEachRow(secretsUpTo: 0) { (row) throws(VaultError) in
            guard let id = UInt64(exactly: row.id).flatMap(ItemID.init(rawValue:)), !known.contains(id),
                lost.count < Self.maximumLost, let metadata = try verifier.verify(row)
            else { return }
            known.insert(id)
            lost.append("“\(metadata.label)” (item \(id)) is lost or was deleted; \(self.id) has it")
        }
    }
}

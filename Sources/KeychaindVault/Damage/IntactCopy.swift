import KeychaindModel

/// The newest backup of a damaged keychain, which has items that the keychain has lost.
enum IntactCopy {
    /// The most items that are named.
    private static let maximumLost = 100

    /// Names the items of the backup that are not present; blocks.
    static func lost(
        from present: Set<ItemID>,
        of name: CollectionName,
        _ keys: CollectionKeys,
        _ copies: KeychainCopies
    ) -> [String] {
        let id = "\(KeychainCopy.Kind.backup.rawValue):\(name.fileName)"
        guard let staged = try? copies.stage(id), staged.header.identifier == keys.collection,
            let log = try? staged.log()
        else { return [] }
        var lost: [String] = []
        _ = try? log.forEachItem(keys, checksSecrets: false) { item, stored in
            guard let stored, !present.contains(item), lost.count < maximumLost,
                let metadata = ItemMetadata(decoding: stored.metadata)
            else { return }
            lost.append("“\(metadata.label)” (item \(item)) is lost or was deleted; \(id) has it")
        }
        return lost
    }
}

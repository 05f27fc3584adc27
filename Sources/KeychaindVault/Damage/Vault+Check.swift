import KeychaindModel

/// A file that can be checked, by an identifier such as `keychain:login` or `backup:FILE`.
private enum CheckedFile {
    case keychain(CollectionName)
    case copy

    init?(_ id: String) {
        let parts = id.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        if parts[0] == "keychain" {
            guard let name = CollectionName(encoded: parts[1]) else { return nil }
            self = .keychain(name)
        } else {
            guard StoredCopy.Kind(rawValue: parts[0]) != nil else { return nil }
            self = .copy
        }
    }
}

extension Vault {
    /// The collection of an identifier such as `keychain:login`; nil for that of a copy.
    package func collection(ofFile id: String) -> Collection? {
        guard case .keychain(let name) = CheckedFile(id) else { return nil }
        return collection(named: name)
    }

    /// The identifiers of the files that ``check(_:_:)`` takes: the keychains, and all copies of them, readable or not.
    package func checkableFiles(_ backups: BackupFolder?) async throws(VaultError) -> [String] {
        guard let context else { throw VaultError.vaultClosed }
        let keychains = collections.compactMap { collection -> String? in
            collection.isEphemeral || collection.state == .vacant ? nil : "keychain:\(collection.name.encoded)"
        }
        let copies = keychainCopies(in: context, backups)
        let worker = try Worker("check", (), pool: .foreignFiles)
        return try await keychains + worker.perform { (_) throws(VaultError) in try copies.ids() }
    }

    /// Checks a file, with the keys at hand; other calls go on meanwhile.
    ///
    /// Damage of a keychain's own file becomes a problem of its collection. Throws `unreadable` if there is no such
    /// file, and errors that may pass.
    package func check(_ id: String, _ backups: BackupFolder?) async throws(VaultError) -> FileReport {
        guard let context else { throw VaultError.vaultClosed }
        let configuration = context.configuration
        let worker = try Worker("check", (), pool: .foreignFiles)
        let copies = keychainCopies(in: context, backups)
        switch CheckedFile(id) {
        case .keychain(let name):
            guard let collection = collection(named: name), !collection.isEphemeral else { throw Self.noFile }
            // It may be a link, or no keychain at all.
            if case .unreadable(let reason) = collection.state { return FileReport(unreadable: reason) }
            var report = try await collection.checkFile(on: worker)
            if !report.isSound, let keys = collection.keys {
                let present = Set(collection.itemIDs)
                report.findings += try await worker.perform { (_) throws(VaultError) in
                    IntactCopy.lost(from: present, of: name, keys, copies)
                }
            }
            return report
        case .copy:
            let isListed = try await worker.perform { (_) throws(VaultError) in try copies.ids().contains(id) }
            guard isListed else { throw Self.noFile }
            let staged: StagedBackup
            do throws(VaultError) {
                staged = try await stage(copy: id, backups)
            } catch {
                guard error.code == .unreadable || error.code == .unsupportedFormat else { throw error }
                return FileReport(unreadable: error.reason)
            }
            let keys = original(of: staged)?.checkKeys
            return try await worker.perform { (_) throws(VaultError) in
                try CollectionLog.check(staged.path, configuration, keys: keys)
            }
        case nil: throw Self.noFile
        }
    }

    private static let noFile = VaultError(.unreadable, reason: "there is no such file")
}

extension Collection {
    /// Whether the file is damaged, and parts of it can be read.
    package var canBeSalvaged: Bool {
        guard case .file = storage else { return false }
        return condition != .sound || foundDamage != nil
    }

    /// What is damaged in a file of which only parts can be read; nil for other files.
    package var damage: String? {
        if case .unreadable = state { return nil }
        return condition == .damaged ? problem : nil
    }
}

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
        let id = "\(StoredCopy.Kind.backup.rawValue):\(name.fileName)"
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

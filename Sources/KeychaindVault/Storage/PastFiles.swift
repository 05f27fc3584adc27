import KeychaindLog
import KeychaindModel
import Logging

/// The files of a collection that a restore has replaced, or that were deleted: `NAME.keychain-past-SECONDS`.
struct PastFiles: Sendable {
    private static let infix = CollectionFormat.suffix + "-past-"

    private let folder: Folder
    private let name: CollectionName

    init(of name: CollectionName, in folder: Folder) {
        (self.folder, self.name) = (folder, name)
    }

    /// The name of the collection that a file is of; nil for other files.
    static func name(of file: String) -> CollectionName? {
        let parts = file.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, "." + parts[1] == infix + parts[1].suffix(while: \.isNumber) else { return nil }
        return CollectionName(encoded: parts[0])
    }

    /// Oldest first.
    func existing() throws(VaultError) -> [String] {
        let files = try folder.names().filter { file in Self.name(of: file) == name }
        return files.sorted { first, second in (first.utf8.count, first) < (second.utf8.count, second) }
    }

    /// An unused name for a file that is put aside.
    func newName(at now: Timestamp) throws(VaultError) -> String {
        var seconds = now.microsecondsSinceEpoch / 1_000_000
        let last = try existing().last.flatMap { file in Int64(String(file.suffix(while: \.isNumber))) }
        // In order, although the clock may have been set.
        if let last, last >= seconds { seconds = last + 1 }
        return name.encoded + Self.infix + String(seconds)
    }

    /// Removes all but the newest ones.
    func prune(keeping kept: Int) throws(VaultError) {
        for file in try existing().dropLast(kept) { try folder.remove(file) }
    }

    /// Removes all, durably, except those of the collection with this identifier.
    func removeAll(exceptOf present: [UInt8]?, _ configuration: VaultConfiguration) throws(VaultError) {
        for file in try existing() {
            if let present, (try? identifier(of: file, configuration)) == present { continue }
            try folder.remove(file)
        }
        try folder.synchronize()
    }

    private func identifier(of file: String, _ configuration: VaultConfiguration) throws(VaultError) -> [UInt8] {
        try CollectionLog(folder.file(file), readOnly: true, configuration).records.uuid
    }

    /// Removes items from all files in which they need less authentication than now.
    ///
    /// A file that cannot be changed is removed, unless the cause may pass.
    func removeUnprotected(
        _ protections: [ItemID: ItemProtection],
        _ keys: CollectionKeys,
        _ configuration: VaultConfiguration
    ) throws(VaultError) {
        for file in try existing() {
            do throws(VaultError) {
                let log = try CollectionLog(folder.file(file), configuration)
                // It is of a deleted collection of the same name.
                guard log.records.uuid == keys.collection else { continue }
                try log.removeUnprotected(protections, keys)
            } catch {
                // The change fails too, and both can be tried again.
                if error.isTriedAgain { throw error }
                configuration.logger.warning(
                    "\(file) is removed, because it holds unprotected copies of protected items: \(error)"
                )
                try folder.remove(file)
                try folder.synchronize()
            }
        }
    }
}

extension CollectionLog {
    fileprivate func removeUnprotected(
        _ protections: [ItemID: ItemProtection],
        _ keys: CollectionKeys
    ) throws(VaultError) {
        var dropped: Set<RecordID> = []
        for (id, protection) in protections {
            guard let record = RecordID(id), records.contains(record) else { continue }
            let isProtected = try logged { () throws(LogError) in
                try records.read(record, keys.log) { stored in
                    stored.metadata.flatMap(ItemMetadata.init)?.isProtected(as: protection) == true
                }
            }
            if !isProtected { dropped.insert(record) }
        }
        guard !dropped.isEmpty else { return }
        var rewriting = Rewriting()
        rewriting.isDropped = { [dropped] id, _ in dropped.contains(id) }
        try logged { () throws(LogError) in _ = try records.rewrite(rewriting, keys.log) }
    }
}

extension ItemMetadata {
    /// Whether the item has the same policy and key material as a protection.
    fileprivate func isProtected(as protection: ItemProtection) -> Bool {
        ItemProtection(of: attributes).policy == protection.policy && wraps?.alternatives == protection.keyAlternatives
    }
}

extension StringProtocol {
    fileprivate func suffix(while isWanted: (Character) -> Bool) -> SubSequence {
        let end = lastIndex { character in !isWanted(character) }
        return end.map { end in self[index(after: end)...] } ?? self[...]
    }
}

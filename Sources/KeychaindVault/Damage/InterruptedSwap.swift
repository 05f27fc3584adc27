/// A salvage or restore that a crash interrupted after the journal of the damaged file was removed.
///
/// That file is then still in its place, and would pass for sound, without the changes in its journal.
enum InterruptedSwap {
    /// Gives files their journals back from the copies that were kept.
    ///
    /// - Parameter files: the names in the folder.
    static func undo(in folder: Folder, files: [String]) throws(VaultError) {
        guard folder.isWritable else { return }
        for kept in files {
            guard let file = original(of: kept), let identity = FileIdentity(folder.file(kept)),
                FileIdentity(folder.file(file)) == identity, try !folder.exists(file + "-wal")
            else { continue }
            // With the index first: the journal alone would say less.
            for suffix in ["-shm", "-wal"] where try folder.exists(kept + suffix) {
                if suffix == "-shm" { try folder.remove(file + suffix) }
                try folder.keepAlso(kept + suffix, as: file + suffix)
            }
        }
    }

    /// Gives a file its journal back after a replacement that has failed, and removes the copy that was kept.
    ///
    /// Otherwise the next start would apply the kept journal over later changes.
    static func giveBack(_ file: String, in folder: Folder) throws(VaultError) {
        guard let identity = FileIdentity(folder.file(file)) else { return }
        let kept = try folder.names().filter { name in
            original(of: name) == file && FileIdentity(folder.file(name)) == identity
        }
        try undo(in: folder, files: kept)
        for name in kept {
            for suffix in ["-wal", "-shm", ""] { try folder.remove(name + suffix) }
        }
    }

    /// The file of a name such as `NAME.keychain.unreadable-SECONDS`; nil for other names.
    private static func original(of kept: String) -> String? {
        let parts = kept.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, "." + parts[1] == CollectionFormat.suffix, parts[2].hasPrefix("unreadable-"),
            parts[2].dropFirst("unreadable-".count).allSatisfy(\.isNumber)
        else { return nil }
        return parts[0] + CollectionFormat.suffix
    }
}

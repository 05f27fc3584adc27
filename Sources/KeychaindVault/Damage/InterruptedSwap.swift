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
            guard let file = original(of: kept), try isSameFile(kept, file, in: folder),
                try !folder.exists(file + "-wal")
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
        var kept: [String] = []
        for name in try folder.names() where original(of: name) == file {
            if try isSameFile(name, file, in: folder) { kept.append(name) }
        }
        try undo(in: folder, files: kept)
        for name in kept {
            for suffix in ["-wal", "-shm", ""] { try folder.remove(name + suffix) }
        }
    }

    /// Whether two names are those of one file.
    private static func isSameFile(_ name: String, _ other: String, in folder: Folder) throws(VaultError) -> Bool {
        guard let identity = try FileIdentity(folder.file(name), followingLinks: false) else { return false }
        return try FileIdentity(folder.file(other), followingLinks: false) == identity
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

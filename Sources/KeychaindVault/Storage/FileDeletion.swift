import KeychaindModel

/// The deletion of a collection's file: all of it or nothing, whatever part of it a power loss leaves.
///
/// 1. The file gets a name that is never listed, durably: the collection is deleted.
/// 2. The journal is removed, durably. A file without its journal would lack its latest changes.
/// 3. The collection is forgotten in `state.db`, so that nobody misses its file.
/// 4. The renamed file is removed.
///
/// The next start does what is left of these steps.
struct FileDeletion {
    private let folder: Folder
    private let file: String
    private let leftover: String

    init(of name: CollectionName, in folder: Folder) {
        self.folder = folder
        file = name.fileName
        leftover = name.encoded + CollectionFormat.deletedSuffix
    }

    /// The collection of a leftover; nil for any other file.
    static func collection(ofLeftover file: String) -> CollectionName? {
        guard file.hasSuffix(CollectionFormat.deletedSuffix) else { return nil }
        return CollectionName(encoded: file.dropLast(CollectionFormat.deletedSuffix.count))
    }

    /// Step 1; after an error the file is there as before, unless the reason says that this is unknown.
    func begin() throws(VaultError) {
        if try folder.exists(file) {
            do throws(VaultError) {
                try folder.rename(file, to: leftover)
            } catch {
                if error.code == .storageFull {
                    // A longer name may need another block for the folder.
                    try folder.remove(file)
                } else if (try? folder.exists(file)) != false {
                    throw error
                }
            }
        }
        do throws(VaultError) {
            try folder.synchronize()
        } catch {
            do throws(VaultError) {
                try folder.renameIfFree(leftover, to: file)
            } catch let second {
                throw VaultError(
                    error.code,
                    reason: "\(error.reason); it is unknown whether the file is deleted: \(second.reason)"
                )
            }
            throw error
        }
    }

    /// Step 2.
    func removeJournal() throws(VaultError) {
        for suffix in ["-wal", "-shm", "-journal"] { try folder.remove(file + suffix) }
        try folder.synchronize()
    }

    /// Steps 2 to 4; `forget` is step 3.
    func finish(forgetting forget: () throws(VaultError) -> Void) throws(VaultError) {
        // Another file has the name: it was put back, or made anew.
        guard !folder.contains(file) else { return try folder.remove(leftover) }
        try removeJournal()
        do throws(VaultError) {
            try forget()
        } catch {
            guard error.code == .storageFull, folder.contains(leftover) else { throw error }
            // Makes room, and stays as a mark.
            try folder.truncate(leftover)
            try forget()
        }
        try folder.remove(leftover)
    }
}

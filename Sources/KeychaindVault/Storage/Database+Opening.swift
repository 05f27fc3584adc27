extension Database {
    /// Opens a file for writing, or read-only if it cannot be written; returns also the reason for the latter.
    ///
    /// A reason that ``VaultError/mayPass`` is one to open the file again. `check` throws for an invalid file, before
    /// anything is changed.
    ///
    /// - Parameter isShared: whether other connections of this process need the file; if another program has it open,
    ///   it is shared in any case.
    static func open(
        _ name: String,
        in folder: Folder,
        shared isShared: Bool = false,
        _ check: (Database) throws(VaultError) -> Void
    ) throws(VaultError) -> (database: Database, obstacle: VaultError?) {
        let path = folder.file(name)
        let hasJournal = try folder.size(of: name + "-wal") > 0
        var obstacle = VaultError(.readOnly, reason: "the data folder is read-only")
        if folder.isWritable, Folder.isWritable(path) {
            do throws(VaultError) {
                return (try openToWrite(path, shared: isShared, check), nil)
            } catch {
                // Without a journal, the file is complete.
                guard error.code == .storageFull || error.code == .storageFailed, !hasJournal else { throw error }
                obstacle = error
            }
        } else if hasJournal {
            throw VaultError(.readOnly, reason: "its journal cannot be read, because the data folder is read-only")
        }
        let database = try Database(path: path, mode: .immutable)
        try check(database)
        return (database, obstacle)
    }

    private static func openToWrite(
        _ path: String,
        shared isShared: Bool,
        _ check: (Database) throws(VaultError) -> Void
    ) throws(VaultError) -> Database {
        func open(_ mode: Mode) throws(VaultError) -> Database {
            let database = try Database(path: path, mode: mode)
            try check(database)
            try database.enableWriting()
            return database
        }
        do throws(VaultError) {
            return try open(isShared ? .shared : .exclusive)
        } catch {
            switch error.code {
            case .busy where !isShared: return try open(.shared)
            // A full disk has no room for the index.
            case .storageFull where isShared: return try open(.exclusive)
            default: throw error
            }
        }
    }
}

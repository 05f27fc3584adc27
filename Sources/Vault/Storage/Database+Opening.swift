extension Database {
    /// Opens a file for writing, or read-only if it cannot be written.
    ///
    /// On a full disk the file is readable, and often writable again once there is room: the index of the journal is
    /// then in memory, and no other connection can use the file.
    ///
    /// - Parameter check: throws for an invalid file, before anything is changed. |- Returns: the connection, and the
    ///   reason why it cannot write, if any.
    static func open(
        _ name: String,
        in folder: Folder,
        _ check: (Database) throws(VaultError) -> Void
    ) throws(VaultError) -> (database: Database, obstacle: VaultError?) {
        let path = folder.file(name)
        let hasJournal = folder.size(of: name + "-wal") > 0
        var obstacle = VaultError(.readOnly, reason: "the data folder is read-only")
        if folder.isWritable, Folder.isWritable(path) {
            do throws(VaultError) {
                return (try openToWrite(path, check), nil)
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
        _ check: (Database) throws(VaultError) -> Void
    ) throws(VaultError) -> Database {
        func open(_ mode: Mode) throws(VaultError) -> Database {
            let database = try Database(path: path, mode: mode)
            try check(database)
            try database.enableWriting()
            return database
        }
        do throws(VaultError) {
            return try open(.readWrite)
        } catch {
            guard error.code == .storageFull else { throw error }
            return try open(.exclusive)
        }
    }
}

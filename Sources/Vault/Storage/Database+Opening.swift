extension Database {
    /// Opens a file of a folder, to write it if that can be.
    ///
    /// On a disk that is full the file can be read all the same. Mostly it can be written as soon as there is room: only the index of
    /// the journal, which otherwise lies beside the file, is in memory then, so that no other connection can use the file.
    ///
    /// - Parameter check: throws unless the file is what it should be; before that nothing of it is changed.
    /// - Returns: the connection, and why nothing can be written with it, or nil.
    static func open(
        _ name: String,
        in folder: Folder,
        _ check: (Database) throws(VaultError) -> Void
    ) throws(VaultError) -> (database: Database, obstacle: VaultError?) {
        let path = folder.file(name)
        let hasJournal = folder.size(of: name + "-wal") > 0
        var obstacle = VaultError(.readOnly, reason: "the data folder cannot be written")
        if folder.isWritable, Folder.isWritable(path) {
            do throws(VaultError) {
                return (try openToWrite(path, check), nil)
            } catch {
                // Without a journal the file alone is all that was written.
                guard error.code == .storageFull || error.code == .storageFailed, !hasJournal else { throw error }
                obstacle = error
            }
        } else if hasJournal {
            throw VaultError(.readOnly, reason: "its journal cannot be read in a folder that cannot be written")
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

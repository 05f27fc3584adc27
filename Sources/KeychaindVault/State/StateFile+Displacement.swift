/// A `state.db` that another program has removed or replaced while it was open: this process still has the former file.
extension StateFile {
    /// What the former file has of the vault's memory; nil if another program may have written into it.
    func formerContents() -> Contents? {
        guard (try? database.isTouched()) == false else { return nil }
        return try? contents()
    }

    /// Puts a copy of the former file in the place of the removed one; does nothing if there is another file.
    func putBack(in folder: Folder) throws(VaultError) {
        guard try !folder.exists(Self.name) else { return }
        let unfinished = Self.name + "-new"
        try folder.removeDatabase(unfinished)
        try folder.makeEmptyFile(unfinished)
        try database.run("VACUUM INTO ?1", .text(folder.file(unfinished)))
        try folder.synchronize(unfinished)
        // SQLite would apply a journal that was left to the copy.
        for suffix in ["-wal", "-shm"] { try folder.remove(Self.name + suffix) }
        try folder.renameIfFree(unfinished, to: Self.name)
        try folder.synchronize()
    }

    /// Adds the aliases and the records of failed attempts of a former file: they are those in memory.
    func add(_ former: Contents) throws(VaultError) {
        let present = try contents()
        for (alias, collection) in former.aliases where present.aliases[alias] != collection {
            try setAlias(alias, to: collection)
        }
        for (owner, record) in former.lockouts.records where present.lockouts[owner] != .record(record) {
            try setLockout(record, of: owner)
        }
    }
}

import KeychaindModel

extension CollectionFile {
    /// Creates the file of a new collection: completely and durably, or not at all.
    ///
    /// The name comes last, so a crash leaves an unfinished file. Throws `busy` when the name is taken, as by a
    /// restored file.
    static func create(
        _ name: CollectionName,
        in folder: Folder,
        header: CollectionHeader,
        state: [UInt8]
    ) throws(VaultError) {
        let unfinished = name.unfinishedFileName
        try folder.remove(unfinished)
        try folder.remove(unfinished + "-journal")
        do throws(VaultError) {
            try folder.makeEmptyFile(unfinished)
            try fill(Database(path: folder.file(unfinished), mode: .exclusive), header: header, state: state)
            try folder.synchronize(unfinished)
            let file = name.fileName
            try folder.requireFree(file)
            // An orphaned journal would be taken for the new file's.
            for orphan in [file + "-wal", file + "-shm"] where try folder.exists(orphan) {
                try folder.rename(orphan, to: orphan + "-orphan")
            }
            try folder.renameIfFree(unfinished, to: file)
            do throws(VaultError) {
                try folder.synchronize()
            } catch {
                try folder.withdraw(file, after: error)
            }
        } catch {
            try? folder.remove(unfinished)
            throw error
        }
    }

    /// Moves the journal of an unused file into the file; throws unless it is a readable collection.
    static func foldJournal(_ name: String, in folder: Folder) throws(VaultError) {
        _ = try examine(name, in: folder)
    }

    /// Reads the identifier of an unused file and changes nothing; it never is in the journal alone.
    static func identifier(of name: String, in folder: Folder) throws(VaultError) -> [UInt8] {
        let header = try Database(path: folder.file(name), mode: .immutable).prepare("SELECT uuid FROM header")
        guard try header.step() else { throw VaultError(.unreadable, reason: "\(name) has no header") }
        return Array(header.bytes(at: 0))
    }

    /// Reads the public part of an unused file, and moves its journal into it.
    static func examine(
        _ name: String,
        in folder: Folder
    ) throws(VaultError) -> (header: CollectionHeader, state: [UInt8], itemCount: Int) {
        let file = try CollectionFile(name, in: folder, limits: VaultLimits(), maximumPages: nil)
        if let obstacle = file.obstacle { throw obstacle }
        if let damage = try file.structuralDamage() { throw VaultError(.unreadable, reason: damage) }
        let found = (try file.header(), try file.state(), try file.database.integer("SELECT count(*) FROM item"))
        try file.finish(isSound: true)
        return (found.0, found.1, Int(clamping: found.2))
    }

    static func fill(
        _ database: Database,
        header: CollectionHeader,
        state: [UInt8]
    ) throws(VaultError) {
        try database.execute(
            """
            PRAGMA synchronous = FULL;
            PRAGMA application_id = \(CollectionFormat.application);
            PRAGMA user_version = \(CollectionFormat.version)
            """
        )
        try database.transaction { () throws(VaultError) in
            for table in CollectionFormat.tables { try database.execute(table) }
            try database.run(
                """
                INSERT INTO header (id, uuid, label, created, modified, index_key, state)
                VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)
                """,
                .bytes(header.identifier),
                .text(header.label),
                .integer(header.created.microsecondsSinceEpoch),
                .integer(header.modified.microsecondsSinceEpoch),
                .bytes(header.indexKey),
                .bytes(state)
            )
            for slot in header.slots { try insert(slot, of: header, into: database) }
        }
    }
}

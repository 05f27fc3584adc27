extension Database {
    /// Makes commits durable and deletions overwrite the data, and checks that SQLite agreed.
    func enableWriting() throws(VaultError) {
        try execute("PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 0")
        let journal = try text("PRAGMA journal_mode = WAL")
        let synchronous = try integer("PRAGMA synchronous")
        guard journal == "wal", synchronous == 2 else {
            throw VaultError(.storageFailed, reason: "SQLite refused durable writes (\(journal), \(synchronous))")
        }
        try checkJournalIsWritable()
        note?.prepare()
        connection.countFrames()
        try place.begin()
    }

    /// SQLite opens the journal, too, only to read if opening it to write fails; it would stay so.
    private func checkJournalIsWritable() throws(VaultError) {
        do throws(VaultError) {
            try execute("BEGIN IMMEDIATE; ROLLBACK")
        } catch {
            switch error.code {
            // Another connection is writing.
            case .busy: return
            case .readOnly where place.journalIsWritable:
                throw VaultError(.storageFailed, reason: "the journal could be opened only to read")
            default: throw error
            }
        }
    }

    /// Accepts a change that this process has made to the length of the journal.
    func journalWasExtended() {
        place.holdJournal()
    }

    /// Notes how far the journal reaches after a commit with changes.
    func noteJournal() {
        let frames = connection.takeFrames()
        if frames > 0 { note?.write(frames: frames) }
    }

    /// Moves the journal into the file; returns the number of its frames.
    ///
    /// - Parameters:
    ///   - truncating: whether to empty the journal, so that the file is complete.
    ///   - waiting: whether to wait for other readers; otherwise throws `busy` at once.
    ///
    /// Throws `displaced` when another program has written into the file.
    @discardableResult
    func checkpoint(truncating: Bool = false, waiting: Bool = true) throws(VaultError) -> Int {
        // The pages of the journal would mix with those of the other program.
        try place.requireUntouched()
        defer { place.hold() }
        let (frames, moved) = try connection.checkpoint(truncating: truncating, waiting: waiting)
        if truncating { note?.clear() } else if moved > 0 { note?.write(framesInFile: moved) }
        return frames
    }
}

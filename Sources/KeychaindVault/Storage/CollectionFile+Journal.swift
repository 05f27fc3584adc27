extension CollectionFile {
    // A longer journal is checkpointed.
    private static let journalLimit = 1 << 20

    // The reserved size of the journal: the limit plus a typical change.
    private static let journalReserve = journalLimit + 64 << 10

    /// Reserves the journal's full length once: SQLite then overwrites it in place, with nearly twice as fast syncs.
    ///
    /// A failure is harmless.
    func reserveJournal() {
        guard obstacle == nil, !journalIsReserved else { return }
        journalIsReserved = true
        guard (try? database.isTouched()) == false else { return }
        try? folder.reserve(journal, bytes: Self.journalReserve)
        database.journalWasExtended()
    }

    /// Whether the journal should be checkpointed without waiting for a pause.
    var journalIsLong: Bool { journalBytes > Self.journalLimit || journalMustBeEmptied }

    /// Moves the journal into the file, and shortens an oversized journal.
    func checkpoint() throws(VaultError) {
        guard obstacle == nil, journalBytes > 0 || journalMustBeEmptied else { return }
        if !journalMustBeEmptied {
            try database.checkpoint()
            journalBytes = 0
            guard try folder.size(of: journal) > 4 * Self.journalReserve else { return }
        }
        try emptyJournal()
    }

    /// Moves the journal into the file and empties it; throws `busy` at once while somebody else reads the file.
    private func emptyJournal() throws(VaultError) {
        try database.checkpoint(truncating: true, waiting: false)
        journalBytes = 0
        journalIsReserved = false
        journalMustBeEmptied = false
    }

    /// Removes replaced data from the file and the journal; if that fails, every ``checkpoint()`` tries again.
    func forgetReplaced() throws(VaultError) {
        journalMustBeEmptied = true
        try emptyJournal()
    }

    /// Moves the whole journal into the file, unless the file is unverified and the journal has contents.
    func finish(isSound: Bool) throws(VaultError) {
        guard obstacle == nil else { return }
        if !isSound, try folder.size(of: journal) > 0 { return }
        if isSound { try database.checkpoint(truncating: true) }
        database.removeJournalWhenClosed()
    }
}

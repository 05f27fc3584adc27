/// What the file of a collection looks like from outside; docs/file-format.md tells the rest.
enum CollectionFormat {
    /// The versions of the format, in SQLite's `user_version`, that can be read and written.
    static let versions: ClosedRange<UInt32> = 1...versionWithLoginKeys

    /// The version of a file in which some item may have a key of its own; others before it are of version 1.
    static let versionWithItemKeys: UInt32 = 2

    /// The version of a file whose key slots were changed after it was made, so that one of them has a note.
    static let versionWithSlotNotes: UInt32 = 3

    /// The version of a file in which some item may be sealed to the passcode of another collection, `login`.
    static let versionWithLoginKeys: UInt32 = 4

    /// The most key slots that a file is read for.
    static let maximumSlots = 64

    /// `KCHN`, in SQLite's `application_id`.
    static let application: UInt32 = 0x4b43_484e

    /// How the name of a collection's file ends.
    static let suffix = ".keychain"

    /// How the name of a file ends that is being made, and that nothing of worth is in yet.
    static let unfinishedSuffix = ".keychain-new"

    /// The size of a collection's identifier in bytes.
    static let identifierSize = 16

    /// The tables, as they must be in every file.
    static let tables = [
        """
        CREATE TABLE header (id INTEGER PRIMARY KEY CHECK (id = 1), uuid BLOB NOT NULL, label TEXT NOT NULL, \
        created INTEGER NOT NULL, modified INTEGER NOT NULL, index_key BLOB NOT NULL, state BLOB NOT NULL) STRICT
        """,
        """
        CREATE TABLE item (id INTEGER PRIMARY KEY, revision INTEGER NOT NULL, tags BLOB NOT NULL, \
        metadata BLOB NOT NULL, secret BLOB NOT NULL) STRICT
        """,
        """
        CREATE TABLE slot (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, parameters BLOB NOT NULL, \
        wrapped BLOB NOT NULL, checksum BLOB NOT NULL) STRICT
        """,
    ]
}

import KeychaindModel

/// Constants of the file format; docs/file-format.md describes it.
enum CollectionFormat {
    /// In SQLite's `user_version`.
    static let version: UInt32 = 4

    static let maximumSlots = 64

    /// `KCHN`, in SQLite's `application_id`.
    static let application: UInt32 = 0x4b43_484e

    static let suffix = ".keychain"

    /// The suffix of an unfinished file, which can be deleted.
    static let unfinishedSuffix = ".keychain-new"

    /// The suffix of a deleted file, which the next start removes with its journal.
    static let deletedSuffix = ".keychain-deleted"

    /// The same, of a collection whose generations go with it.
    static let deletedWithGenerationsSuffix = ".keychain-deleted-all"

    /// In bytes.
    static let identifierSize = 16

    /// Fewer bytes than any item takes in the file: its sealed metadata alone have 56.
    static let leastItemSize = 64

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

extension CollectionName {
    package var fileName: String { encoded + CollectionFormat.suffix }

    var unfinishedFileName: String { encoded + CollectionFormat.unfinishedSuffix }
}

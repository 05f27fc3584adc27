import Glibc
import KeychaindModel

/// A `state.db` whose journal is damaged: SQLite goes back to the state before the damage, so that protections, failed
/// attempts and aliases of after it are lost.
///
/// 1. The file and the journal are copied; the copy's name says that the loss is not recorded yet.
/// 2. SQLite opens the file.
/// 3. The loss is recorded in it: what may be older than it was is taken for the worst.
/// 4. The copy gets its lasting name.
///
/// A start after a crash does what is left of these steps.
extension StateFile {
    private static let damaged = name + ".damaged"
    private static let copied = name + "-new"
    private static let maximumSize: Int64 = 1 << 30
    private static let stalePrefix = "stale-ledger/"

    /// Step 1; false if the journal is sound.
    static func keepDamaged(in folder: Folder) throws(VaultError) -> Bool {
        guard folder.isWritable, try folder.exists(name) else { return false }
        if try folder.exists(damaged) { return true }
        guard try PageFile.journalIsDamaged(of: name, in: folder) else { return false }
        for suffix in ["", "-wal"] {
            try folder.remove(copied + suffix)
            let source = try OpenedFile(folder.file(name + suffix), flags: O_RDONLY)
            let target = try OpenedFile(folder.file(copied + suffix), flags: O_WRONLY | O_CREAT | O_EXCL)
            try source.copyPlainFile(to: target, maximumSize: maximumSize)
        }
        for suffix in ["-wal", ""] { try folder.rename(copied + suffix, to: damaged + suffix) }
        try folder.synchronize()
        return true
    }

    /// Steps 3 and 4.
    func recordLoss(in folder: Folder) throws(VaultError) {
        try requireWritable()
        try database.transaction { () throws(VaultError) in
            // No valid record, and so the worst.
            try database.run(
                "UPDATE record SET value = x'' WHERE name GLOB ?1",
                .text(LockoutOwner.prefix + "*")
            )
            try database.run(
                "INSERT OR REPLACE INTO record (name, value) SELECT ?1 || hex(collection), x'' FROM protection",
                .text(Self.stalePrefix)
            )
        }
        let kept = try Self.freeName(in: folder)
        for suffix in ["-wal", ""] where try folder.exists(Self.damaged + suffix) {
            try folder.rename(Self.damaged + suffix, to: kept + suffix)
        }
        try folder.synchronize()
    }

    /// A name under which a damaged file can be kept.
    static func freeName(in folder: Folder) throws(VaultError) -> String {
        var kept = name + ".unreadable"
        var number = 2
        while try folder.exists(kept) {
            kept = "\(name).unreadable-\(number)"
            number += 1
        }
        return kept
    }

    /// Whether protections may be missing in the ledger of a collection.
    func mayLackProtections(of identifier: [UInt8]) throws(VaultError) -> Bool {
        try value(ofRecord: Self.recordName(Self.stalePrefix, of: identifier)) != nil
    }

    func trustLedger(of identifier: [UInt8]) throws(VaultError) {
        try removeRecord(Self.recordName(Self.stalePrefix, of: identifier))
    }
}

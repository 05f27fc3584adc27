import Logging

/// The last change that the file of each collection had when it was closed: without it, nobody would notice an older
/// file that was put in its place meanwhile.
extension StateFile {
    private static let prefix = "last-change/"
    /// More changes than anybody makes: a record that is so far ahead is forged or damaged.
    static let maximumMissing: UInt64 = 1 << 32

    /// The number of the last change of a collection; nil if it was never recorded.
    func lastChange(of identifier: [UInt8]) throws(VaultError) -> UInt64? {
        guard version >= 2 else { return nil }
        let row = try database.prepare("SELECT value FROM record WHERE name = ?1 || hex(?2)")
        try row.bind(Self.prefix, at: 1)
        try row.bind(identifier, at: 2)
        guard try row.step() else { return nil }
        var reader = ByteReader(row.bytes(at: 0))
        return reader.integer(UInt64.self)
    }

    func setLastChange(_ number: UInt64, of identifier: [UInt8]) throws(VaultError) {
        let recorded = try lastChange(of: identifier) ?? 0
        // The number of a lost change stays until that of a new one is higher.
        guard number > recorded || recorded - number > Self.maximumMissing else { return }
        try requireWritable()
        var bytes: [UInt8] = []
        bytes.append(bigEndian: number)
        try database.change(
            "INSERT OR REPLACE INTO record (name, value) VALUES (?1 || hex(?2), ?3)",
            .text(Self.prefix),
            .bytes(identifier),
            .bytes(bytes)
        )
    }

    func forgetLastChange(of identifier: [UInt8]) throws(VaultError) {
        guard try lastChange(of: identifier) != nil else { return }
        try requireWritable()
        try database.change("DELETE FROM record WHERE name = ?1 || hex(?2)", .text(Self.prefix), .bytes(identifier))
    }
}

extension VaultFolder {
    /// The number of the last change of a collection; nil if it was never recorded, or is to be forgotten.
    func lastChange(of identifier: [UInt8]) throws(VaultError) -> UInt64? {
        guard !obsoleteLastChanges.contains(identifier) else {
            // The disk may work again by now.
            forgetLastChange(of: identifier)
            return nil
        }
        return try openedState().lastChange(of: identifier)
    }

    /// A failure is only logged.
    func setLastChange(_ number: UInt64, of identifier: [UInt8]) {
        if obsoleteLastChanges.contains(identifier) { forgetLastChange(of: identifier) }
        do throws(VaultError) {
            try changeState { (state) throws(VaultError) in try state.setLastChange(number, of: identifier) }
        } catch {
            logger.warning("An older keychain file may go unnoticed, because the last change is not recorded: \(error)")
        }
    }

    /// Forgets the last change of a collection, whose file may be older from now on.
    ///
    /// After a failure, it is tried again when the last change is read or set.
    func forgetLastChange(of identifier: [UInt8]) {
        do throws(VaultError) {
            try changeState { (state) throws(VaultError) in try state.forgetLastChange(of: identifier) }
            obsoleteLastChanges.remove(identifier)
        } catch {
            obsoleteLastChanges.insert(identifier)
            logger.warning("After a restart, a restored keychain may pass for an older one: \(error)")
        }
    }
}

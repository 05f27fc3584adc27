/// The records of failed authentications.
extension StateFile {
    /// More than can exist.
    private static let maximumLockouts = 4096

    /// Reads all records.
    func lockouts() throws(VaultError) -> StoredLockouts {
        var lockouts = StoredLockouts.none
        guard hasRecords else { return lockouts }
        let rows = try prepare(
            "SELECT name, value FROM record WHERE name GLOB '\(LockoutOwner.prefix)*' LIMIT \(Self.maximumLockouts)"
        )
        while try rows.step() {
            guard let owner = LockoutOwner(name: rows.text(at: 0)) else { continue }
            lockouts.set(Array(rows.bytes(at: 1)), of: owner)
        }
        return lockouts
    }

    /// Stores a record.
    func setLockout(_ record: [UInt8], of owner: LockoutOwner) throws(VaultError) {
        try setRecord(owner.name, to: record)
    }

    /// Removes records.
    func removeLockouts(of owners: [LockoutOwner]) throws(VaultError) {
        for owner in owners { try removeRecord(owner.name) }
    }
}

/// What is known of failed authentications, in records whose names begin alike.
extension StateFile {
    /// More records than there ever are of them.
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

    /// Keeps what is known of failed authentications.
    func setLockout(_ record: [UInt8], of owner: LockoutOwner) throws(VaultError) {
        try setRecord(owner.name, to: record)
    }

    /// Removes records.
    func removeLockouts(of owners: [LockoutOwner]) throws(VaultError) {
        for owner in owners { try removeRecord(owner.name) }
    }
}

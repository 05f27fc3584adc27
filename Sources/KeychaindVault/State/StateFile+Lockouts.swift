/// The records of failed authentications, by their owners.
extension StateFile {
    /// More lockout records than can exist.
    private static let maximumLockouts = 4096

    func lockouts() throws(VaultError) -> StoredLockouts {
        var lockouts = StoredLockouts.none
        try forEachRecord(withPrefix: LockoutOwner.prefix, limit: Self.maximumLockouts) { name, record in
            if let owner = LockoutOwner(name: name) { lockouts.set(Array(record), of: owner) }
        }
        return lockouts
    }

    func setLockout(_ record: [UInt8], of owner: LockoutOwner) throws(VaultError) {
        try setValue(record, ofRecord: owner.name)
    }

    func removeLockouts(of owners: [LockoutOwner]) throws(VaultError) {
        for owner in owners { try removeRecord(owner.name) }
    }
}

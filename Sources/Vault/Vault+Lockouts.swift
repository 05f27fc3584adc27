package import KeychainModel

extension Vault {
    /// What was kept of failed authentications.
    package func lockout(of owner: LockoutOwner) -> StoredLockout { lockouts[owner] }

    /// The passwords, beside the passcode, of which failed attempts are kept.
    package var lockoutOwners: [LockoutOwner] {
        lockouts.records.keys.filter { owner in owner.collection != nil }
    }

    /// Keeps what is known of failed authentications, in whatever form.
    ///
    /// When this returns, the disk has it. Throws `limitExceeded` past 4096 bytes, and what the disk may.
    package func setLockout(_ record: [UInt8], of owner: LockoutOwner) async throws(VaultError) {
        guard let context else { throw Collection.closed }
        guard record.count <= 4096 else { throw VaultError(.limitExceeded, reason: "the record is too long") }
        lockouts.set(record, of: owner)
        try await context.clerk.perform { (folder) throws(VaultError) in try folder.setLockout(record, of: owner) }
    }

    /// Forgets what was kept of failed authentications, now in memory and soon on the disk.
    package func removeLockouts(of owners: [LockoutOwner]) {
        let kept = owners.filter { owner in lockouts.records[owner] != nil }
        guard let context, !kept.isEmpty else { return }
        for owner in kept { lockouts.set(nil, of: owner) }
        context.clerk.post { folder in folder.removeLockouts(of: kept) }
    }

    /// Forgets what was kept of failed authentications in a collection, and of its items.
    func removeLockouts(of collection: Collection) {
        removeLockouts(of: lockouts.records.keys.filter { owner in owner.isOf(collection) })
    }
}

extension LockoutOwner {
    /// Whether it is the password of a collection, or of an item in it.
    package func isOf(_ collection: Collection) -> Bool {
        self.collection != nil && self.collection == collection.identifier
    }
}

extension Collection {
    /// Under which failed attempts at the password are counted; nil before there is one.
    package func lockoutOwner(_ party: LockoutParty) -> LockoutOwner? {
        if name == .login { return header == nil ? nil : .passcode(party) }
        return header.map { header in .collection(header.identifier, party) }
    }

    /// Under which failed attempts at the password of an item's own are counted.
    package func lockoutOwner(of id: ItemID) -> LockoutOwner { .item(id, identifier) }
}

package import KeychaindModel

/// The stored record of failed authentications from an earlier run.
package enum StoredLockout: Equatable, Sendable {
    case none

    case record([UInt8])

    /// There may be a record, but it cannot be read.
    case unreadable
}

struct StoredLockouts: Sendable {
    /// The result for an owner without a record.
    var rest: StoredLockout
    private(set) var records: [LockoutOwner: [UInt8]] = [:]
    static let none = StoredLockouts(rest: .none)

    static let unreadable = StoredLockouts(rest: .unreadable)

    subscript(owner: LockoutOwner) -> StoredLockout {
        records[owner].map(StoredLockout.record) ?? rest
    }

    /// Adds the records of another state; those that are here are newer.
    mutating func add(_ other: StoredLockouts) {
        rest = other.rest
        records.merge(other.records) { present, _ in present }
    }

    mutating func set(_ record: [UInt8]?, of owner: LockoutOwner) {
        records[owner] = record
    }
}

extension Vault {
    package func lockout(of owner: LockoutOwner) -> StoredLockout { lockouts[owner] }

    package var lockoutOwners: [LockoutOwner] {
        lockouts.records.keys.filter { owner in owner.collection != nil }
    }

    /// Stores the record of an owner, durably; throws `limitExceeded` past 4096 bytes.
    package func setLockout(_ record: [UInt8], of owner: LockoutOwner) async throws(VaultError) {
        guard let context else { throw VaultError.vaultClosed }
        guard record.count <= 4096 else { throw VaultError(.limitExceeded, reason: "the record is too long") }
        lockouts.set(record, of: owner)
        try await context.folderWorker.perform { (folder) throws(VaultError) in try folder.setLockout(record, of: owner)
        }
    }

    /// Removes records of failed authentications: from memory at once, from the disk soon.
    package func removeLockouts(of owners: [LockoutOwner]) {
        let kept = owners.filter { owner in lockouts.records[owner] != nil }
        guard let context, !kept.isEmpty else { return }
        for owner in kept { lockouts.set(nil, of: owner) }
        context.folderWorker.post { folder in folder.removeLockouts(of: kept) }
    }

    /// Puts one record in the place of others: in memory at once, on the disk soon.
    package func replaceLockouts(of owners: [LockoutOwner], with record: [UInt8], of owner: LockoutOwner) {
        guard let context else { return }
        for owner in owners { lockouts.set(nil, of: owner) }
        lockouts.set(record, of: owner)
        context.folderWorker.post { folder in folder.replaceLockouts(of: owners, with: record, of: owner) }
    }

    func removeLockouts(of collection: Collection) {
        removeLockouts(of: lockouts.records.keys.filter { owner in owner.isOf(collection) })
    }
}

extension LockoutOwner {
    package func isOf(_ collection: Collection) -> Bool {
        self.collection != nil && self.collection == collection.identifier
    }
}

extension Collection {
    /// Nil before there is a password.
    package func lockoutOwner(_ party: LockoutParty) -> LockoutOwner? {
        if name == .login { return header == nil ? nil : .passcode(party) }
        return header.map { header in .collection(header.identifier, party) }
    }

    package func lockoutOwner(of id: ItemID) -> LockoutOwner { .item(id, identifier) }
}

package import KeychainModel

/// The stored record of failed authentications from an earlier run.
package enum StoredLockout: Equatable, Sendable {
    /// There is no record.
    case none

    /// The last record.
    case record([UInt8])

    /// There may be a record, but it cannot be read.
    case unreadable
}

/// All records of failed authentications.
struct StoredLockouts: Sendable {
    /// The result for an owner without a record.
    private let rest: StoredLockout
    private(set) var records: [LockoutOwner: [UInt8]] = [:]
    static let none = StoredLockouts(rest: .none)

    /// There may be records, but they cannot be read.
    static let unreadable = StoredLockouts(rest: .unreadable)

    subscript(owner: LockoutOwner) -> StoredLockout {
        records[owner].map(StoredLockout.record) ?? rest
    }

    mutating func set(_ record: [UInt8]?, of owner: LockoutOwner) {
        records[owner] = record
    }
}

extension Vault {
    /// The stored record of failed authentications of an owner.
    package func lockout(of owner: LockoutOwner) -> StoredLockout { lockouts[owner] }

    /// The passwords other than the passcode that have a record.
    package var lockoutOwners: [LockoutOwner] {
        lockouts.records.keys.filter { owner in owner.collection != nil }
    }

    /// Stores the record of failed authentications of an owner, durably.
    ///
    /// Throws `limitExceeded` past 4096 bytes, and disk errors.
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

    /// Removes the records of a collection and its items.
    func removeLockouts(of collection: Collection) {
        removeLockouts(of: lockouts.records.keys.filter { owner in owner.isOf(collection) })
    }
}

extension LockoutOwner {
    /// Whether the record is for the password of a collection or of one of its items.
    package func isOf(_ collection: Collection) -> Bool {
        self.collection != nil && self.collection == collection.identifier
    }
}

extension Collection {
    /// The owner of failed attempts at the collection's password; nil before there is one.
    package func lockoutOwner(_ party: LockoutParty) -> LockoutOwner? {
        if name == .login { return header == nil ? nil : .passcode(party) }
        return header.map { header in .collection(header.identifier, party) }
    }

    /// The owner of failed attempts at an item's application password.
    package func lockoutOwner(of id: ItemID) -> LockoutOwner { .item(id, identifier) }
}

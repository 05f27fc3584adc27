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

    /// The records by owner.
    private(set) var records: [LockoutOwner: [UInt8]] = [:]

    /// There are no records.
    static let none = StoredLockouts(rest: .none)

    /// There may be records, but they cannot be read.
    static let unreadable = StoredLockouts(rest: .unreadable)

    /// The record of an owner.
    subscript(owner: LockoutOwner) -> StoredLockout {
        records[owner].map(StoredLockout.record) ?? rest
    }

    /// Sets a record; nil removes it.
    mutating func set(_ record: [UInt8]?, of owner: LockoutOwner) {
        records[owner] = record
    }
}

/// What is known of failed authentications from an earlier run.
package enum StoredLockout: Equatable, Sendable {
    /// Nothing was ever kept.
    case none

    /// What was kept last.
    case record([UInt8])

    /// Something may have been kept, and cannot be read.
    case unreadable
}

/// All that is known of failed authentications.
struct StoredLockouts: Sendable {
    /// What is known of those that have no record.
    private let rest: StoredLockout

    /// The records that there are.
    private(set) var records: [LockoutOwner: [UInt8]] = [:]

    /// Nothing was ever kept.
    static let none = StoredLockouts(rest: .none)

    /// Something may have been kept of any, and cannot be read.
    static let unreadable = StoredLockouts(rest: .unreadable)

    /// What is known of one; nil for `record` removes it.
    subscript(owner: LockoutOwner) -> StoredLockout {
        records[owner].map(StoredLockout.record) ?? rest
    }

    /// Keeps a record, or with nil removes it.
    mutating func set(_ record: [UInt8]?, of owner: LockoutOwner) {
        records[owner] = record
    }
}

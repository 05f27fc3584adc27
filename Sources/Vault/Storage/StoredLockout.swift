/// What is known of failed authentications from an earlier run.
package enum StoredLockout: Equatable, Sendable {
    /// Nothing was ever kept.
    case none

    /// What was kept last.
    case record([UInt8])

    /// Something may have been kept, and cannot be read.
    case unreadable
}

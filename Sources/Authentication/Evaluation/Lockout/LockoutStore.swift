package import DBus

/// Where the record of failed attempts outlives the daemon.
@BusActor
package protocol LockoutStore: AnyObject {
    /// The record as it was last saved; nil if none ever was.
    ///
    /// A record that cannot be read is not nil: who implements this answers with one that locks biometry.
    func load() async -> LockoutRecord?

    /// Saves a record, and returns once it is on disk; a failure is for the implementation to log.
    func save(_ record: LockoutRecord) async
}

package import Authentication
package import DBus
package import KeychainModel
package import Vault

/// Writes down who got what and who did not, and never lets a reply wait for that.
///
/// Who a caller is may take a moment to find out, and its entry waits for that; the time in it is that of the event.
@BusActor
package final class AuditRecorder {
    private let callers: CallerDirectory
    private let write: @BusActor (AuditEntry) -> Void
    private let now: @BusActor () -> Timestamp
    private var waiting = 0

    /// - Parameters:
    ///   - callers: tells who is behind a connection.
    ///   - now: in tests, the time of events.
    ///   - write: keeps an entry; called in the order in which the callers are found out.
    package init(
        callers: CallerDirectory,
        now: @escaping @BusActor () -> Timestamp = { Timestamp.now() },
        write: @escaping @BusActor (AuditEntry) -> Void
    ) {
        self.callers = callers
        self.now = now
        self.write = write
    }

    /// Takes an event down; returns at once.
    ///
    /// - Parameters:
    ///   - caller: the unique name of the connection that has called.
    ///   - item: the path of the item; never its label.
    ///   - policy: what had to be proved, as the access control is written.
    ///   - error: why it came to nothing; nil if it did not.
    package func record(
        _ kind: AuditEntry.Kind,
        caller uniqueName: String,
        item: ObjectPath? = nil,
        policy: String = "",
        error: AuthenticationError.Code? = nil
    ) {
        let time = now()
        guard waiting < AuditRecorder.limit else {
            let caller = Caller.opaque(uniqueName, reason: "there are too many to look into")
            return keep(kind, at: time, AuditedCaller(caller), item, policy, error)
        }
        waiting += 1
        BusActor.start { [self] in
            let caller = await callers.caller(uniqueName)
            waiting -= 1
            keep(kind, at: time, AuditedCaller(caller), item, policy, error)
        }
    }

    /// Takes an event down whose caller is known already; returns at once.
    package func record(
        _ kind: AuditEntry.Kind,
        caller: AuditedCaller,
        item: ObjectPath? = nil,
        policy: String = "",
        error: AuthenticationError.Code? = nil
    ) {
        keep(kind, at: now(), caller, item, policy, error)
    }

    private func keep(
        _ kind: AuditEntry.Kind,
        at time: Timestamp,
        _ caller: AuditedCaller,
        _ item: ObjectPath?,
        _ policy: String,
        _ error: AuthenticationError.Code?
    ) {
        write(
            AuditEntry(
                time: time,
                kind: kind,
                caller: caller.packed,
                item: item?.rawValue ?? "",
                policy: policy,
                outcome: error?.description ?? AuditRecorder.success
            )
        )
    }

    /// The outcome of what has not failed; the others are the names of Apple's errors.
    package static let success = "success"

    /// How many entries may wait until it is known who their callers are.
    private static let limit = 1024
}

package import KeychaindAuthentication
package import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
package import KeychaindModel
package import KeychaindVault

/// Records events; a reply that releases something waits until they are on the disk.
///
/// An entry waits for the lookup of its caller, but has the time of the event.
@BusActor
package final class AuditRecorder {
    /// The clients that are told of each event as it happens.
    let followers = AuditFollowers()

    private let write: @BusActor (AuditRepetitions.Line) -> Void
    private let syncEntries: @BusActor () async throws(VaultError) -> Void
    private let now: @BusActor () -> Timestamp
    private let clock: BootClock
    private var waiting = 0
    private var repetitions = AuditRepetitions()

    /// - Parameters:
    ///   - clock: the clock of repetitions; replaced in tests.
    ///   - now: the time of events; replaced in tests.
    ///   - sync: waits until the stored entries are on the disk.
    ///   - write: stores an entry; called in the order in which callers become known.
    package init(
        clock: BootClock = .system,
        now: @escaping @BusActor () -> Timestamp = { Timestamp.now() },
        sync: @escaping @BusActor () async throws(VaultError) -> Void = {},
        write: @escaping @BusActor (AuditRepetitions.Line) -> Void
    ) {
        self.clock = clock
        self.now = now
        syncEntries = sync
        self.write = write
    }

    /// Waits until the events of known callers are on the disk; throws if they cannot be written.
    package func sync() async throws(VaultError) {
        try await syncEntries()
    }

    /// Records an event without waiting.
    package func record(_ event: AuditEvent, by requester: any Requester) {
        let time = now()
        // Identify the program now: it may exit once it has our reply.
        if let caller = requester.knownCaller { return keep(event, by: AuditedCaller(caller), at: time) }
        guard waiting < AuditRecorder.limit else {
            let caller = Caller.opaque(requester.name, reason: Text("there are too many callers to look into"))
            return keep(event, by: AuditedCaller(caller), at: time)
        }
        waiting += 1
        BusActor.start { [self] in
            let caller = await requester.caller()
            waiting -= 1
            keep(event, by: AuditedCaller(caller), at: time)
        }
    }

    /// Records an event of a known caller.
    package func record(_ event: AuditEvent, by caller: AuditedCaller) {
        keep(event, by: caller, at: now())
    }

    private func keep(_ event: AuditEvent, by caller: AuditedCaller, at time: Timestamp) {
        write(repetitions.add(event, by: caller.packed, at: time, now: clock.now))
        if !followers.isEmpty { followers.add(AuditRepetitions.entry(of: event, by: caller.packed, at: time)) }
    }

    /// Maximum number of entries that wait for a caller lookup.
    private static let limit = 1024
}

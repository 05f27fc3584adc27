package import Authentication
package import DBus
package import Desktop
package import KeychainModel
package import Vault

/// Writes down who got what and who did not, and never lets a reply wait for that.
///
/// Who a caller is may take a moment to find out, and its entry waits for that; the time in it is that of the event.
@BusActor
package final class AuditRecorder {
    private let callers: CallerDirectory
    private let write: @BusActor (AuditEntry, AuditRing) -> Void
    private let now: @BusActor () -> Timestamp
    private let clock: BootClock
    private var waiting = 0
    private var repetitions = AuditRepetitions()
    private var ending: (timer: Timer, deadline: Duration)?

    /// - Parameters:
    ///   - callers: tells who is behind a connection.
    ///   - clock: in tests, what the time of repetitions goes by.
    ///   - now: in tests, the time of events.
    ///   - write: keeps an entry; called in the order in which the callers are found out.
    package init(
        callers: CallerDirectory,
        clock: BootClock = .system,
        now: @escaping @BusActor () -> Timestamp = { Timestamp.now() },
        write: @escaping @BusActor (AuditEntry, AuditRing) -> Void
    ) {
        self.callers = callers
        self.clock = clock
        self.now = now
        self.write = write
    }

    /// Takes an event down; returns at once.
    ///
    /// - Parameter uniqueName: that of the connection that has called.
    package func record(_ event: AuditEvent, caller uniqueName: String) {
        let time = now()
        guard waiting < AuditRecorder.limit else {
            let caller = Caller.opaque(uniqueName, reason: "there are too many to look into")
            return keep(event, by: AuditedCaller(caller), at: time)
        }
        waiting += 1
        BusActor.start { [self] in
            let caller = await callers.caller(uniqueName)
            waiting -= 1
            keep(event, by: AuditedCaller(caller), at: time)
        }
    }

    /// Takes an event down whose caller is known already; returns at once.
    package func record(_ event: AuditEvent, caller: AuditedCaller) {
        keep(event, by: caller, at: now())
    }

    /// What is being counted and not written yet, the oldest first.
    package var counted: [AuditEntry] { repetitions.lines.map(\.entry) }

    /// Writes what is being counted: nothing more comes.
    package func finish() {
        write(repetitions.takeAll())
        ending.map { BusActor.loop.cancel($0.timer) }
        ending = nil
    }

    private func keep(_ event: AuditEvent, by caller: AuditedCaller, at time: Timestamp) {
        write(repetitions.add(event, by: caller.packed, at: time, now: clock.now))
        awaitEnding()
    }

    private func write(_ lines: [AuditRepetitions.Line]) {
        for line in lines { write(line.entry, line.ring) }
    }

    private func awaitEnding() {
        guard let deadline = repetitions.nextDeadline, ending.map({ deadline < $0.deadline }) ?? true else { return }
        ending.map { BusActor.loop.cancel($0.timer) }
        let timer = BusActor.loop.schedule(after: max(.zero, deadline - clock.now)) { [weak self] in
            guard let self else { return }
            ending = nil
            write(repetitions.takeEnded(at: clock.now))
            awaitEnding()
        }
        ending = (timer, deadline)
    }

    /// How many entries may wait until it is known who their callers are.
    private static let limit = 1024
}

import DBus

/// Events in the order in which they came, for one who acts on them.
@BusActor
final class EventQueue<Event> {
    private var events: [Event] = []
    private var waiter: CheckedContinuation<Void, Never>?

    /// Adds an event, and resumes who waits for one.
    func post(_ event: Event) {
        events.append(event)
        waiter?.resume()
        waiter = nil
    }

    /// The next event; nil if there is none yet.
    func takeFirst() -> Event? {
        events.isEmpty ? nil : events.removeFirst()
    }

    /// Waits until there is an event; one may wait at a time.
    func wait() async {
        await withCheckedContinuation { continuation in
            if events.isEmpty { waiter = continuation } else { continuation.resume() }
        }
    }
}

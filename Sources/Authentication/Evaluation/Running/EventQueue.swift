import DBus

/// A queue of events with one consumer.
@BusActor
final class EventQueue<Event> {
    private var events: [Event] = []
    private var arrival = Promise<Void>()

    /// Adds an event, and resumes the consumer if it waits.
    func post(_ event: Event) {
        events.append(event)
        arrival.fulfill()
    }

    /// Removes the next event; nil if there is none.
    func takeFirst() -> Event? {
        events.isEmpty ? nil : events.removeFirst()
    }

    /// Waits until there is an event.
    func wait() async {
        guard events.isEmpty else { return }
        arrival = Promise()
        await arrival.wait()
    }
}

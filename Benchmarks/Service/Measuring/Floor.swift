import BenchmarkSupport
import DBus

/// Calls of the floor service.
struct Floor {
    private let bus: BusClient

    init(_ bus: BusClient) {
        self.bus = bus
    }

    /// How long a Ping takes, which libdbus answers.
    func ping() throws -> Duration {
        try bus.timedCall(
            Message.call(to: FloorService.busName, .root, "org.freedesktop.DBus.Peer", "Ping")
        ).duration
    }

    /// How long an echo takes, which the service answers.
    func echo() throws -> Duration {
        try bus.timedCall(echoMessage()).duration
    }

    /// How long an echo takes of several on their way.
    func echoes(count: Int, inFlight: Int) throws -> Duration {
        try bus.timedCalls((0..<count).map { _ in echoMessage() }, inFlight: inFlight).duration / count
    }

    private func echoMessage() -> Message {
        Message.call(to: FloorService.busName, .root, FloorService.interface, "Echo")
    }
}

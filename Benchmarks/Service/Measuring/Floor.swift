import KeychaindDBus

/// Calls of the floor service.
struct Floor {
    private let bus: BusClient

    init(_ bus: BusClient) {
        self.bus = bus
    }

    /// Measures a Ping, which libdbus answers.
    func ping() throws -> Duration {
        try bus.timedCall(
            Message.call(to: FloorService.busName, .root, "org.freedesktop.DBus.Peer", "Ping")
        ).duration
    }

    /// Measures an echo, which the service answers.
    func echo() throws -> Duration {
        try bus.timedCall(echoMessage()).duration
    }

    /// Measures an echo with several in flight.
    func echoes(count: Int, inFlight: Int) throws -> Duration {
        try bus.timedCalls((0..<count).map { _ in echoMessage() }, inFlight: inFlight).duration / count
    }

    private func echoMessage() -> Message {
        Message.call(to: FloorService.busName, .root, FloorService.interface, "Echo")
    }
}

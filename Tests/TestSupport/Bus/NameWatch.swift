import DBus

/// Waits for a name on the bus to be taken, without asking again and again.
package final class NameWatch: Sendable {
    private let owners = Recorder<String>()
    private let connection: Connection
    private let name: String

    /// Begins to watch.
    package init(_ name: String, on bus: PrivateBus) async throws {
        self.name = name
        connection = try await bus.connect()
        await start()
    }

    @BusActor
    private func start() {
        let (name, owners) = (name, owners)
        let match = SignalMatch(
            sender: "org.freedesktop.DBus",
            interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged"
        )
        connection.subscribe(to: match) { message in
            guard let (changed, _, owner) = try? message.read(String.self, String.self, String.self) else { return }
            if changed == name {
                owners.record(owner)
            }
        }
    }

    deinit {
        let connection = connection
        Task { @BusActor in connection.close(flushing: false) }
    }

    /// Waits until somebody takes the name, or the process that should take it ends.
    package func waitForOwner(unless process: ChildProcess, within limit: Duration = Patience.limit) async throws {
        let ending = Task { [owners] in
            _ = try await process.waitForExit(within: limit)
            owners.finish()
        }
        defer { ending.cancel() }
        _ = try await owners.first("the owner of \(name)", within: limit) { !$0.isEmpty }
    }

    /// Waits until nobody has the name any more.
    package func waitForVacancy(within limit: Duration = Patience.limit) async throws {
        _ = try await owners.first("the end of the owner of \(name)", within: limit) { $0.isEmpty }
    }
}

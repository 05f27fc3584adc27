import DBus
import TestSupport

extension ConnectTests {
    /// The unique name of the connection that a closure makes; what is called when that name goes.
    @BusActor
    static func nameOfConnection(
        made body: () async throws -> Void,
        on observer: Connection,
        whenGone: @escaping @Sendable () -> Void
    ) async throws -> String {
        let names = Recorder<String>()
        let match = SignalMatch(
            sender: "org.freedesktop.DBus",
            interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged"
        )
        observer.subscribe(to: match) { message in
            guard let (name, _, owner) = try? message.read(String.self, String.self, String.self) else { return }
            if owner == name { names.record(name) }
            if owner.isEmpty, name == names.all.first { whenGone() }
        }
        _ = try await observer.owner(of: "org.freedesktop.DBus")
        try await body()
        return try await names.first("a new connection")
    }
}

import KeychaindDBus
import KeychaindDesktop
import KeychaindRights

/// The owner of a bus name, for error messages.
enum NameOwner {
    /// The owner's process and program, and how to replace it.
    @BusActor
    static func find(_ name: String, on connection: Connection) async -> String {
        guard let process = await processID(of: name, on: connection) else {
            return "its owner is unknown; keychaind --replace takes the name over if the owner allows it"
        }
        let folder = ProcessFolder("\(process)", in: "/proc")
        let program = UserRights.perform { folder.link("exe") } ?? "an unknown program"
        return "process \(process), \(program), has it; stop that process, or try keychaind --replace"
    }

    @BusActor
    private static func processID(of name: String, on connection: Connection) async -> UInt32? {
        let call = Message.call(
            to: bus,
            ObjectPath(unchecked: "/org/freedesktop/DBus"),
            bus,
            "GetConnectionUnixProcessID"
        )
        call.append(name)
        return try? await connection.call(call).read(UInt32.self)
    }

    private static let bus = "org.freedesktop.DBus"
}

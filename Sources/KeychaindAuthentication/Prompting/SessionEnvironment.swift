package import KeychaindDBus

/// The current environment of the desktop session, for programs that open windows.
///
/// The daemon may start before the desktop, which passes its environment to the systemd user manager.
@BusActor
package final class SessionEnvironment {
    private static let manager = "org.freedesktop.systemd1"
    private static let path = ObjectPath(unchecked: "/org/freedesktop/systemd1")

    private let own: [String: String]
    private let connection: Connection
    private let timeout: Duration

    /// - Parameters:
    ///   - own: the environment of this process.
    ///   - connection: to the session bus, for the user manager if this process has no display.
    ///   - timeout: the time limit of its answer.
    package init(own: [String: String], connection: Connection, timeout: Duration = .seconds(5)) {
        self.own = own
        self.connection = connection
        self.timeout = timeout
    }

    /// All variables; those of the user manager override those of this process.
    package func variables() async -> [String: String] {
        guard !SessionEnvironment.hasDisplay(own) else { return own }
        var variables = own.merging(await managersVariables()) { $1 }
        // Programs are started with the search path of this process.
        variables["PATH"] = own["PATH"]
        return variables
    }

    package nonisolated static func hasDisplay(_ variables: [String: String]) -> Bool {
        ["DISPLAY", "WAYLAND_DISPLAY"].contains { variables[$0]?.isEmpty == false }
    }

    /// Whether the desktop is KDE, by its own variables.
    package nonisolated static func isKDE(_ variables: [String: String]) -> Bool {
        variables["XDG_CURRENT_DESKTOP", default: ""].split(separator: ":").contains { $0.uppercased() == "KDE" }
    }

    private func managersVariables() async -> [String: String] {
        let name = SessionEnvironment.manager
        // Do not start a missing manager: its service file only reports a failure.
        guard let owner = try? await connection.service(name) else { return [:] }
        let call = Message.call(to: owner, SessionEnvironment.path, "org.freedesktop.DBus.Properties", "Get")
        call.append(name + ".Manager", "Environment")
        guard let reply = try? await connection.call(call, timeout: timeout) else { return [:] }
        return SessionEnvironment.variables(in: reply)
    }

    /// The variables in a reply with the user manager's property `Environment`; none if it has another type.
    nonisolated static func variables(in reply: Message) -> [String: String] {
        guard case .strings(let lines)? = try? reply.read(Variant.self) else { return [:] }
        let pairs = lines.compactMap { line in
            line.firstIndex(of: "=").map { (String(line[..<$0]), String(line[line.index(after: $0)...])) }
        }
        return Dictionary(pairs) { $1 }
    }
}

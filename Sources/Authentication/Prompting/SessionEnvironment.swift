package import DBus

/// The environment of the desktop session as it is at this moment, for programs that show something in it.
///
/// The daemon may have been started before there was a desktop, and its own environment never changes; desktops tell
/// theirs to systemd's user manager when they start.
@BusActor
package final class SessionEnvironment {
    private static let manager = "org.freedesktop.systemd1"
    private static let path = ObjectPath(unchecked: "/org/freedesktop/systemd1")

    private let own: [String: String]
    private let connection: Connection
    private let timeout: Duration

    /// - Parameters:
    ///   - own: the environment of this process.
    ///   - connection: to the session bus, where the user manager is asked if this process knows of no display.
    ///   - timeout: how long it may take to answer.
    package init(own: [String: String], connection: Connection, timeout: Duration = .seconds(5)) {
        self.own = own
        self.connection = connection
        self.timeout = timeout
    }

    /// All variables; where this process and the user manager differ, the user manager is right.
    package func variables() async -> [String: String] {
        guard !SessionEnvironment.hasDisplay(own) else { return own }
        var variables = own.merging(await managersVariables()) { $1 }
        // Programs are started from this one's, whatever is said here.
        variables["PATH"] = own["PATH"]
        return variables
    }

    /// Whether windows can be shown.
    package static func hasDisplay(_ variables: [String: String]) -> Bool {
        ["DISPLAY", "WAYLAND_DISPLAY"].contains { variables[$0]?.isEmpty == false }
    }

    /// Whether the desktop is KDE's, by the names that it gives itself.
    package static func isKDE(_ variables: [String: String]) -> Bool {
        variables["XDG_CURRENT_DESKTOP", default: ""].split(separator: ":").contains { $0.uppercased() == "KDE" }
    }

    private func managersVariables() async -> [String: String] {
        let name = SessionEnvironment.manager
        // Without a manager there is none to be started: the name's service file only tells that it cannot be.
        guard let owner = try? await connection.owner(of: name) else { return [:] }
        let call = Message.call(to: owner, SessionEnvironment.path, "org.freedesktop.DBus.Properties", "Get")
        call.append(name + ".Manager", "Environment")
        guard
            let reply = try? await connection.call(call, timeout: timeout),
            case .strings(let lines)? = try? reply.read(Variant.self)
        else { return [:] }
        let pairs = lines.compactMap { line in
            line.firstIndex(of: "=").map { (String(line[..<$0]), String(line[line.index(after: $0)...])) }
        }
        return Dictionary(pairs) { $1 }
    }
}

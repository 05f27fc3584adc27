import Glibc
package import KeychaindDBus
package import KeychaindDesktop

/// The subject of a polkit check, `(sa{sv})`.
package enum PolkitSubject: BusValue, Hashable, Sendable {
    /// A connection to the system bus; polkit finds its process.
    case connection(uniqueName: String)

    /// A process, its start time in clock ticks since boot (proc(5), field 22 of stat) and its user.
    case process(id: UInt32, startTime: UInt64, user: Int32)

    package static var signature: String { "(sa{sv})" }

    /// Reads a subject; throws `InvalidArgs` for other kinds.
    package init(from reader: inout Reader) throws(BusError) {
        let (kind, details) = try reader.readStructure { (reader) throws(BusError) in
            (try String(from: &reader), try [String: Variant](from: &reader))
        }
        switch (kind, details["name"], details["pid"], details["start-time"], details["uid"]) {
        case ("system-bus-name", .string(let name), _, _, _):
            self = .connection(uniqueName: name)
        case ("unix-process", _, .uint32(let id), .uint64(let startTime), .int32(let user)):
            self = .process(id: id, startTime: startTime, user: user)
        default:
            throw BusError(.invalidArguments, "unknown kind of subject: '\(kind)'")
        }
    }

    package func write(to writer: inout Writer) {
        writer.writeStructure { writer in
            switch self {
            case .connection(let name):
                "system-bus-name".write(to: &writer)
                ["name": Variant.string(name)].write(to: &writer)
            case .process(let id, let startTime, let user):
                "unix-process".write(to: &writer)
                ["pid": Variant.uint32(id), "start-time": .uint64(startTime), "uid": .int32(user)].write(to: &writer)
            }
        }
    }
}

/// Finds the process to ask polkit about.
@BusActor
package protocol PolkitSubjectFinder: Sendable {
    /// Throws if polkit cannot be asked about any process.
    func subject(on connection: Connection, until deadline: Deadline) async throws(BusError) -> PolkitSubject
}

/// Finds the leader of the user's session: the login program or display manager, owned by another user.
///
/// polkit finds the session and its agent by the control group of that process. It lets a program register an agent
/// only for processes of the same user, so none of the user's programs can do so for the leader.
package struct SessionLeader: PolkitSubjectFinder {
    private let root: String
    private let userID: UInt32

    /// - Parameter userID: the user of the session.
    package nonisolated init(root: String = "/proc", userID: UInt32 = getuid()) {
        self.root = root
        self.userID = userID
    }

    /// The leader of the user's display session, else of this process's session.
    package func subject(on connection: Connection, until deadline: Deadline) async throws(BusError) -> PolkitSubject {
        guard let owner = try await connection.owner(of: Logind.busName, timeout: deadline.rest) else {
            throw BusError(.failed, "logind is not running, so the session leader is unknown")
        }
        let logind = Logind(connection: connection, owner: owner, timeout: deadline.rest)
        var session: LogindSession?
        if let user = try await logind.user(userID) { session = try await logind.display(of: user, userID) }
        if session == nil {
            session = try await logind.ownSession(id: nil, processID: UInt32(getpid()), userID: userID)
        }
        guard let session else { throw BusError(.failed, "the user has no session") }
        guard let leader = try await logind.leader(of: session) else {
            throw BusError(.failed, "logind names no session leader")
        }
        guard let id = Int32(exactly: leader), id > 0, let startTime = startTime(ofForeign: id) else {
            throw BusError(.failed, "the session leader, process \(leader), may belong to the user")
        }
        return .process(id: leader, startTime: startTime, user: Int32(bitPattern: userID))
    }

    /// The start time of a process without user ids of the user; nil for others.
    private func startTime(ofForeign id: Int32) -> UInt64? {
        let folder = ProcessFolder(id, in: root)
        guard let before = folder.processStatus, let credentials = ProcessCredentials(folder),
            !credentials.userIDs.contains(userID), folder.processStatus?.startTime == before.startTime
        else { return nil }
        return before.startTime
    }
}

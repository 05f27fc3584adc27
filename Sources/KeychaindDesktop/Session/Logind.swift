import KeychaindDBus

/// Calls of `org.freedesktop.login1`, to one logind process.
@BusActor
struct Logind {
    static let busName = "org.freedesktop.login1"
    static let managerInterface = "org.freedesktop.login1.Manager"
    nonisolated static let sessionInterface = "org.freedesktop.login1.Session"
    static let managerPath = ObjectPath(unchecked: "/org/freedesktop/login1")
    nonisolated static let userInterface = "org.freedesktop.login1.User"

    let connection: Connection
    /// logind's unique name, so that no other program is called or heard.
    let owner: String
    let timeout: Duration

    // MARK: Finding sessions

    /// The session of that id, else that of the process; nil if the user has neither, or it is closing.
    func ownSession(id: String?, processID: UInt32, userID: UInt32) async throws(BusError) -> LogindSession? {
        if let id, let session = try await session(answering("GetSession") { $0.append(id) }, of: userID) {
            return session
        }
        return try await session(answering("GetSessionByPID") { $0.append(processID) }, of: userID)
    }

    /// The user's object, whose `Display` changes; nil for a user who is not logged in.
    func user(_ userID: UInt32) async throws(BusError) -> ObjectPath? {
        try await answer(of: "GetUser") { $0.append(userID) }
    }

    /// The user's display session by logind's choice: graphical rather than a terminal.
    ///
    /// Nil without a session that a person uses, or if it is closing.
    func display(of user: ObjectPath, _ userID: UInt32) async throws(BusError) -> LogindSession? {
        let display = try await orNil { () async throws(BusError) in
            try await property("Display", of: user, Logind.userInterface, LogindValue.display)
        }
        guard let display, display != .root else { return nil }
        return try await session(at: display, of: userID)
    }

    private typealias Question = @BusActor () async throws(BusError) -> ObjectPath?

    private func answering(_ member: String, _ arguments: @escaping (Message) -> Void) -> Question {
        { () async throws(BusError) in try await answer(of: member, arguments) }
    }

    private func session(_ question: Question, of userID: UInt32) async throws(BusError) -> LogindSession? {
        guard let path = try await question() else { return nil }
        return try await session(at: path, of: userID)
    }

    /// The session at a path, if it is the user's, a person uses it, and it is not closing.
    private func session(at path: ObjectPath, of userID: UInt32) async throws(BusError) -> LogindSession? {
        try await orNil { () async throws(BusError) -> LogindSession? in
            let owner = try await property("User", of: path, Logind.sessionInterface, LogindValue.user)
            let kind = try await property("Class", of: path, Logind.sessionInterface, LogindValue.text)
            // Other classes include "manager", "background", "greeter" and "lock-screen".
            guard owner == userID, kind.hasPrefix("user") else { return nil }
            let id = try await property("Id", of: path, Logind.sessionInterface, LogindValue.text)
            let state = try await property("State", of: path, Logind.sessionInterface, LogindValue.text)
            guard state != "closing" else { return nil }
            return LogindSession(id: id, path: path)
        }
    }

    /// The process that has opened the session; nil if logind does not say.
    func leader(of session: LogindSession) async throws(BusError) -> UInt32? {
        try await orNil { () async throws(BusError) in
            try await property("Leader", of: session.path, Logind.sessionInterface, LogindValue.number)
        }
    }

    // MARK: State

    /// Whether the screen locker has reported a locked screen.
    func lockedHint(of session: LogindSession) async throws(BusError) -> Bool {
        try await hint("LockedHint", of: session)
    }

    /// Whether the desktop has reported the session as unused for a while.
    func idleHint(of session: LogindSession) async throws(BusError) -> Bool {
        try await hint("IdleHint", of: session)
    }

    private func hint(_ name: String, of session: LogindSession) async throws(BusError) -> Bool {
        try await property(name, of: session.path, Logind.sessionInterface, LogindValue.flag)
    }

    /// Delays sleep until the descriptor is closed, or for logind's `InhibitDelayMaxSec`, five seconds.
    func delaySleep(reason: String) async throws(BusError) -> FileDescriptor {
        let message = Message.call(to: owner, Logind.managerPath, Logind.managerInterface, "Inhibit")
        message.append("sleep", "keychaind", reason, "delay")
        return try await connection.call(message, timeout: timeout).read(FileDescriptor.self)
    }

    // MARK: Calling

    /// The path that a method of the manager returns; nil if it reports none.
    private func answer(of member: String, _ arguments: (Message) -> Void) async throws(BusError) -> ObjectPath? {
        let message = Message.call(to: owner, Logind.managerPath, Logind.managerInterface, member)
        arguments(message)
        return try await orNil { () async throws(BusError) in
            try await connection.call(message, timeout: timeout).read(ObjectPath.self)
        }
    }

    private func property<Value: Sendable>(
        _ name: String,
        of path: ObjectPath,
        _ interface: String,
        _ read: (Message) throws(BusError) -> Value
    ) async throws(BusError) -> Value {
        let message = Message.call(to: owner, path, StandardInterface.properties, "Get")
        message.append(interface, name)
        let reply = try await connection.call(message, timeout: timeout)
        return try read(reply)
    }

    /// Nil for a refusal; throws only if logind does not answer, has gone, or is asked too much.
    private func orNil<Value: Sendable>(
        _ body: @BusActor () async throws(BusError) -> Value?
    ) async throws(BusError) -> Value? {
        do throws(BusError) {
            return try await body()
        } catch {
            switch error.name {
            case .noReply, .timeout, .disconnected, .serviceUnknown, .nameHasNoOwner, .limitsExceeded, .noMemory:
                throw error
            default: return nil
            }
        }
    }
}

/// A session of logind.
struct LogindSession: Hashable, Sendable {
    /// The id, such as `2` or `c1`.
    let id: String
    let path: ObjectPath
}

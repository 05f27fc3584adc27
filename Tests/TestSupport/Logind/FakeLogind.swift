import DBus
import Glibc

/// python-dbusmock's logind on a bus of its own, which stands for the machine's.
package final class FakeLogind: Sendable {
    package static let busName = "org.freedesktop.login1"
    package static let manager = "/org/freedesktop/login1"
    private static let mock = "org.freedesktop.DBus.Mock"

    /// The session that there is at the start.
    package let session = "c1"
    package let bus: PrivateBus
    private let process: ChildProcess
    private let connection: Connection

    /// Starts logind, with one session of this user's.
    ///
    /// - Parameters:
    ///   - bus: where it is to be, if there is a bus already.
    ///   - hasSession: whether there is that session.
    package init(on bus: PrivateBus? = nil, hasSession: Bool = true) async throws {
        let bus = if let bus { bus } else { try await PrivateBus() }
        self.bus = bus
        let watch = try await NameWatch(FakeLogind.busName, on: bus)
        process = try ChildProcess(
            "/usr/bin/python3",
            ["-m", "dbusmock", "--template", "logind"],
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
        )
        try await watch.waitForOwner(unless: process)
        connection = try await bus.connect()
        // The template's own fails.
        try await addMethod("GetUser", "u", "o", "ret = '\(FakeLogind.manager)/user/%d' % args[0]")
        if hasSession {
            try await addSession(session)
        }
    }

    deinit {
        let connection = connection
        Task { @BusActor in connection.close(flushing: false) }
    }

    /// What a program needs in its environment to take this for the machine's bus.
    package var environment: [String: String?] {
        ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "XDG_SESSION_ID": nil]
    }

    // MARK: What logind is asked for

    /// Adds a session of a user's.
    package func addSession(_ id: String, user: UInt32 = getuid()) async throws {
        try await call(FakeLogind.manager, FakeLogind.mock, "AddSession") {
            $0.append(id, "seat0", user, "user\(user)", true)
        }
    }

    /// Makes it the answer to who the calling process belongs to.
    package func setSessionOfProcesses(_ id: String) async throws {
        try await addMethod("GetSessionByPID", "u", "o", "ret = '\(path(id))'")
    }

    /// Makes a method of the manager's fail, such as `GetSession` for an id that it does not know.
    package func setFailing(_ member: String, _ input: String) async throws {
        try await addMethod(
            member,
            input,
            "o",
            "raise dbus.exceptions.DBusException('no', name='org.freedesktop.login1.NoSuchSession')"
        )
    }

    /// Makes a process the leader of a session.
    package func setLeader(_ process: Int32, of id: String = "c1") async throws {
        try await call(path(id), FakeLogind.mock, "UpdateProperties") {
            $0.append("org.freedesktop.login1.Session", ["Leader": Variant.uint32(UInt32(process))])
        }
    }

    /// Makes it the user's first session; nil for none.
    package func setDisplay(_ id: String?) async throws {
        try await set("User", "\(FakeLogind.manager)/user/\(getuid())", "Display") { writer in
            writer.writeStructure { writer in
                (id ?? "").write(to: &writer)
                (id.map { ObjectPath(unchecked: self.path($0)) } ?? .root).write(to: &writer)
            }
        }
    }

    /// Ends a session; unless it is told otherwise, nothing is the user's first then.
    package func removeSession(_ id: String, display: String? = nil) async throws {
        try await call(FakeLogind.manager, FakeLogind.mock, "RemoveObject") { $0.append(self.path(id)) }
        try await setDisplay(display)
        try await emitSession("SessionRemoved", id)
    }

    /// Changes the state of a session, which nobody is told of.
    package func setState(_ state: String, of id: String) async throws {
        try await set("Session", path(id), "State", signature: "s") { state.write(to: &$0) }
    }

    /// Changes the class of a session.
    package func setClass(_ kind: String, of id: String) async throws {
        try await set("Session", path(id), "Class", signature: "s") { kind.write(to: &$0) }
    }

    /// Asks the session's locker to lock, or to unlock.
    package func send(_ member: String, to id: String = "c1") async throws {
        try await call(path(id), "org.freedesktop.login1.Session", member)
    }

    /// Says what a screen locker says.
    package func setLockedHint(_ isLocked: Bool, of id: String = "c1") async throws {
        try await call(path(id), "org.freedesktop.login1.Session", "SetLockedHint") { $0.append(isLocked) }
    }

    /// Says what a desktop says when nobody has used it for a while.
    package func setIdleHint(_ isIdle: Bool, of id: String = "c1") async throws {
        try await call(path(id), FakeLogind.mock, "UpdateProperties") {
            $0.append("org.freedesktop.login1.Session", ["IdleHint": Variant.boolean(isIdle)])
        }
    }

    /// Tells that the machine is about to sleep, or has woken up.
    package func prepareForSleep(_ isAboutToSleep: Bool) async throws {
        try await emit("PrepareForSleep", "b") { Variant.write(isAboutToSleep, to: &$0) }
    }

    /// Tells that a session has come or gone.
    package func emitSession(_ member: String, _ id: String) async throws {
        let path = ObjectPath(unchecked: path(id))
        try await emit(member, "so") { writer in
            Variant.write(id, to: &writer)
            Variant.write(path, to: &writer)
        }
    }

    /// Who delays sleep at the moment: what, who and mode of each.
    package func inhibitors() async throws -> [[String]] {
        let reply = try await call(FakeLogind.manager, "org.freedesktop.login1.Manager", "ListInhibitors")
        var reader = reply.makeReader()
        var all: [[String]] = []
        try reader.readArray { (reader) throws(BusError) in
            let fields = try reader.readStructure { (reader) throws(BusError) in
                let fields = (
                    try String(from: &reader), try String(from: &reader), try String(from: &reader),
                    try String(from: &reader)
                )
                reader.skip()
                reader.skip()
                return [fields.0, fields.1, fields.3]
            }
            all.append(fields)
        }
        return all
    }

    /// Stops answering.
    package func pause() {
        process.send(SIGSTOP)
    }

    /// Ends as by a crash.
    package func kill() async throws {
        try await process.kill()
    }

    // MARK: The mock

    /// The object path of a session.
    package func path(_ session: String) -> String {
        "\(FakeLogind.manager)/session/\(session)"
    }

    private func addMethod(_ name: String, _ input: String, _ output: String, _ code: String) async throws {
        try await call(FakeLogind.manager, FakeLogind.mock, "AddMethod") {
            $0.append("org.freedesktop.login1.Manager", name, input, output, code)
        }
    }

    private func emit(_ member: String, _ signature: String, _ arguments: (inout Writer) -> Void) async throws {
        try await call(FakeLogind.manager, FakeLogind.mock, "EmitSignal") {
            $0.append("org.freedesktop.login1.Manager", member, signature)
            $0.write { $0.writeArray(of: "v", arguments) }
        }
    }

    private func set(
        _ interface: String,
        _ path: String,
        _ name: String,
        signature: String = "(so)",
        _ value: (inout Writer) -> Void
    ) async throws {
        try await call(path, StandardInterface.properties, "Set") {
            $0.append("org.freedesktop.login1.\(interface)", name)
            $0.write { $0.writeVariant(signature, value) }
        }
    }

    @discardableResult
    private func call(
        _ path: String,
        _ interface: String,
        _ member: String,
        _ arguments: (Message) -> Void = { _ in }
    ) async throws -> Message {
        let message = Message.call(to: FakeLogind.busName, ObjectPath(unchecked: path), interface, member)
        arguments(message)
        return try await send(message)
    }

    @BusActor
    private func send(_ message: Message) async throws -> Message {
        try await connection.call(message, timeout: Patience.limit)
    }
}

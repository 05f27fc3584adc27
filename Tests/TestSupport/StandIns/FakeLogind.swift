import Glibc
import KeychaindDBus
import Synchronization

/// python-dbusmock's logind on a private bus that stands for the system bus.
package final class FakeLogind: Sendable {
    package static let busName = "org.freedesktop.login1"
    package static let manager = "/org/freedesktop/login1"
    private static let mock = "org.freedesktop.DBus.Mock"

    /// The initial session.
    package let session = "c1"
    package let bus: PrivateBus
    private let process: ChildProcess
    private let connection: Connection
    /// The calls of changes that are made at once; nil when each is made by itself.
    private let collected = Mutex<[Message]?>(nil)

    /// Starts logind with one session of this user.
    ///
    /// - Parameters:
    ///   - bus: an existing bus to use.
    ///   - hasSession: whether to create the initial session.
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
        // The template's own method fails.
        try await addMethod("GetUser", "u", "o", "ret = '\(FakeLogind.manager)/user/%d' % args[0]")
        if hasSession {
            try await addSession(session)
        }
    }

    deinit {
        let connection = connection
        Task { @BusActor in connection.close(flushing: false) }
    }

    /// The environment in which programs use this bus as the system bus.
    package var environment: [String: String?] {
        ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "XDG_SESSION_ID": nil]
    }

    /// Makes changes while the event loop of this process stands still, so that it reads all their signals at once.
    package func atOnce(_ changes: () async throws -> Void) async throws {
        collected.withLock { $0 = [] }
        defer { collected.withLock { $0 = nil } }
        try await changes()
        try await send(collected.withLock { $0 ?? [] })
    }

    @BusActor
    private func send(_ changes: [Message]) throws {
        let link = try RawClient(bus.address)
        for change in changes { _ = try link.call(change) }
    }

    // MARK: Sessions

    /// Adds a session of a user.
    package func addSession(_ id: String, user: UInt32 = getuid()) async throws {
        try await call(FakeLogind.manager, FakeLogind.mock, "AddSession") {
            $0.append(id, "seat0", user, "user\(user)", true)
        }
    }

    /// Sets the session of the calling process.
    package func setSessionOfProcesses(_ id: String) async throws {
        try await addMethod("GetSessionByPID", "u", "o", "ret = '\(path(id))'")
    }

    /// Makes a method of the manager fail, such as `GetSession` for an unknown id.
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

    /// Sets the user's first session; nil for none.
    package func setDisplay(_ id: String?) async throws {
        try await set("User", "\(FakeLogind.manager)/user/\(getuid())", "Display") { writer in
            writer.writeStructure { writer in
                (id ?? "").write(to: &writer)
                (id.map { ObjectPath(unchecked: self.path($0)) } ?? .root).write(to: &writer)
            }
        }
    }

    /// Ends a session; by default, the user then has no first session.
    package func removeSession(_ id: String, display: String? = nil) async throws {
        try await setDisplay(display)
        try await endSession(id)
    }

    /// Ends a session, whether it is the user's first session or not.
    package func endSession(_ id: String) async throws {
        try await call(FakeLogind.manager, FakeLogind.mock, "RemoveObject") { $0.append(self.path(id)) }
        try await emitSession("SessionRemoved", id)
    }

    /// Changes the state of a session, without a signal.
    package func setState(_ state: String, of id: String) async throws {
        // Setting the property would send one.
        let code = "objects['\(path(id))'].props['org.freedesktop.login1.Session']['State'] = '\(state)'"
        try await addMethod("ChangeState", "", "", code)
        try await call(FakeLogind.manager, "org.freedesktop.login1.Manager", "ChangeState")
    }

    /// Changes the class of a session.
    package func setClass(_ kind: String, of id: String) async throws {
        try await set("Session", path(id), "Class", signature: "s") { kind.write(to: &$0) }
    }

    /// Sends the session's signal to lock or unlock.
    package func send(_ member: String, to id: String = "c1") async throws {
        try await call(path(id), "org.freedesktop.login1.Session", member)
    }

    /// Sends the signal of a screen locker.
    package func setLockedHint(_ isLocked: Bool, of id: String = "c1") async throws {
        try await call(path(id), "org.freedesktop.login1.Session", "SetLockedHint") { $0.append(isLocked) }
    }

    /// Sends the signal of an idle desktop.
    package func setIdleHint(_ isIdle: Bool, of id: String = "c1") async throws {
        try await call(path(id), FakeLogind.mock, "UpdateProperties") {
            $0.append("org.freedesktop.login1.Session", ["IdleHint": Variant.boolean(isIdle)])
        }
    }

    /// Sends the signal before sleep or after waking up.
    package func prepareForSleep(_ isAboutToSleep: Bool) async throws {
        try await emit("PrepareForSleep", "b") { Variant.write(isAboutToSleep, to: &$0) }
    }

    /// Sends the signal of a new or removed session.
    package func emitSession(_ member: String, _ id: String) async throws {
        let path = ObjectPath(unchecked: path(id))
        try await emit(member, "so") { writer in
            Variant.write(id, to: &writer)
            Variant.write(path, to: &writer)
        }
    }

    /// The current inhibitors of sleep: what, who and mode of each.
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

    /// Suspends logind.
    package func pause() {
        process.send(SIGSTOP)
    }

    /// Goes on with a suspended logind.
    package func resume() {
        process.send(SIGCONT)
    }

    /// Kills logind.
    package func kill() async throws {
        try await process.kill()
    }

    // MARK: The mock

    /// Returns the object path of a session.
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
        let isCollected = collected.withLock { collected in
            collected?.append(message)
            return collected != nil
        }
        return isCollected ? message : try await send(message)
    }

    @BusActor
    private func send(_ message: Message) async throws -> Message {
        try await connection.call(message, timeout: Patience.limit)
    }
}

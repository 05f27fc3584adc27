package import KeychaindDBus

/// A polkit agent with a scripted user, on its own connection.
///
/// It runs as root, so it can answer without PAM.
@BusActor
package final class PolkitAgent {
    /// The user's reaction.
    package enum Person: Hashable, Sendable {
        case authenticates
        case cannot
        case dismisses
        case isAway
    }

    /// The text of every dialog, in order.
    package nonisolated let messages = Recorder<String>()

    /// Every dialog that polkit closed.
    package nonisolated let cancellations = Recorder<String>()

    private static let path = ObjectPath(unchecked: "/org/example/Agent")

    private let connection: Connection
    private let person: Person
    private var waiting: [String: CheckedContinuation<Void, Never>] = [:]

    /// Connects and registers with polkit as a process's agent.
    ///
    /// - Parameter process: the process with its start time; nil for the one of `nobody`.
    package init(on polkit: RealPolkit, for person: Person, of process: (id: Int32, startTime: UInt64)? = nil)
        async throws
    {
        let process = process ?? (polkit.process.id, polkit.startTime)
        self.person = person
        connection = try polkit.bus.connect()
        connection.server = ObjectServer(on: connection, limit: 16) { [weak self] (call) throws(BusError) in
            guard let self, call.path == PolkitAgent.path.rawValue else {
                throw BusError(.unknownObject, "there is only an agent here")
            }
            return PolkitAgent.kind.target(self)
        }
        let call = PolkitAgent.makeCall("RegisterAuthenticationAgent")
        call.write { writer in
            writer.writeStructure { writer in
                "unix-process".write(to: &writer)
                let details: [String: Variant] = [
                    "pid": .uint32(UInt32(process.id)), "start-time": .uint64(process.startTime),
                    "uid": .int32(RealPolkit.user),
                ]
                details.write(to: &writer)
            }
        }
        call.append("C", PolkitAgent.path.rawValue)
        _ = try await connection.call(call, timeout: Patience.limit)
    }

    isolated deinit {
        close()
    }

    /// Disconnects.
    package func close() {
        for continuation in waiting.values {
            continuation.resume()
        }
        waiting = [:]
        connection.close()
    }

    private static func makeCall(_ member: String) -> Message {
        let authority = "org.freedesktop.PolicyKit1"
        let path = ObjectPath(unchecked: "/org/freedesktop/PolicyKit1/Authority")
        return Message.call(to: authority, path, authority + ".Authority", member)
    }

    private static let kind = ObjectKind<PolkitAgent>([
        Interface(
            "org.freedesktop.PolicyKit1.AuthenticationAgent",
            methods: [
                Method(
                    suspending: "BeginAuthentication",
                    in: [
                        Parameter("action_id", String.self), Parameter("message", String.self),
                        Parameter("icon_name", String.self), Parameter("details", [String: String].self),
                        Parameter("cookie", String.self), Parameter("identities", signature: "a(sa{sv})"),
                    ]
                ) { (agent, call) async throws(BusError) in
                    try await agent.begin(call)
                },
                Method("CancelAuthentication", in: [Parameter("cookie", String.self)]) {
                    (agent, call) throws(BusError) in
                    let cookie = try call.arguments(String.self)
                    agent.cancellations.record(cookie)
                    call.reply()
                    agent.waiting.removeValue(forKey: cookie)?.resume()
                },
            ]
        )
    ])

    private func begin(_ call: MethodCall) async throws(BusError) {
        var reader = call.message.makeReader()
        reader.skip()
        let message = try String(from: &reader)
        reader.skip()
        reader.skip()
        let cookie = try String(from: &reader)
        switch person {
        case .authenticates:
            messages.record(message)
            try await respond(to: cookie)
            call.reply()
        case .cannot:
            messages.record(message)
            call.reply()
        case .dismisses:
            messages.record(message)
            throw BusError(ErrorName(rawValue: "org.freedesktop.PolicyKit1.Error.Cancelled"), "dismissed")
        case .isAway:
            await withCheckedContinuation { continuation in
                waiting[cookie] = continuation
                messages.record(message)
            }
            call.reply()
        }
    }

    private func respond(to cookie: String) async throws(BusError) {
        let response = PolkitAgent.makeCall("AuthenticationAgentResponse2")
        response.append(UInt32(0), cookie)
        response.write { writer in
            writer.writeStructure { writer in
                "unix-user".write(to: &writer)
                ["uid": Variant.uint32(UInt32(RealPolkit.user))].write(to: &writer)
            }
        }
        _ = try await connection.call(response, timeout: Patience.limit)
    }
}

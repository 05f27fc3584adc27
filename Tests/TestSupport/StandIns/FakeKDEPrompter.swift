import Foundation
package import KeychaindDBus

/// A prompter like KDE's without a screen.
///
/// It owns `org.kde.secretprompter` on its own connection and answers as the test says.
@BusActor
package final class FakeKDEPrompter {
    /// The reaction to a question, in a new dialog or a retry.
    package enum Response: Hashable, Sendable {
        /// The user types this.
        case type([UInt8])
        /// The same through a pipe that stays open.
        case typeWithoutEnd([UInt8])
        /// The user types this, in a prompter with a pipe instead of a socket.
        case typeIntoPipe([UInt8])
        /// Passes a descriptor of a file.
        case giveFile(String)
        /// The user cancels.
        case reject
        /// Never answers.
        case hang
        /// Leaves the bus.
        case crash
        /// Fails the call that asks.
        case refuse
    }

    /// Every question, such as `UnlockCollectionPrompt WINDOW NAME`, `Retry REASON` and `Dismiss`, and the results as
    /// `action NUMBER`.
    package nonisolated let events = Recorder<String>()

    private let connection: Connection
    private var responses: [Response]
    private var request: (caller: String, path: ObjectPath)?
    private var openEnds: [FileDescriptor] = []
    /// The prompter's own descriptors of what it has sent with passwords.
    package private(set) var sentEnds: [FileDescriptor] = []

    /// Connects and takes the name.
    ///
    /// - Parameter responses: the reactions to the questions; the last one repeats.
    package init(on bus: PrivateBus, _ responses: [Response]) throws {
        self.responses = responses
        connection = try bus.connect()
        connection.server = ObjectServer(on: connection, limit: 16) { [unowned self] call throws(BusError) in
            guard call.path == "/SecretPrompter" else {
                throw BusError(.unknownObject, "there is only a prompter here")
            }
            return FakeKDEPrompter.kind.target(self)
        }
        try connection.takeName("org.kde.secretprompter")
    }

    isolated deinit {
        crash()
    }

    /// Disconnects.
    package func crash() {
        connection.close()
    }

    /// Sends an answer, `Rejected` or `Dismissed`, whether or not there was a question.
    package func say(_ member: String, _ descriptor: FileDescriptor? = nil) {
        guard let request else { return }
        let message = Message.call(to: request.caller, request.path, FakeKDEPrompter.requestInterface, member)
        if let descriptor { message.append(descriptor) }
        BusActor.start { [connection, events] in
            do throws(BusError) {
                let reply = try await connection.call(message, timeout: Patience.limit)
                if member != "Dismissed" { events.record("action \(try reply.read(Int32.self))") }
            } catch {
                events.record("error \(error.name.rawValue)")
            }
        }
    }

    private static let requestInterface = "org.kde.secretprompter.request"

    private static let parameters = [
        Parameter("request", ObjectPath.self), Parameter("window_id", String.self),
        Parameter("activation_token", String.self), Parameter("collection_name", String.self),
    ]

    private static let kind = ObjectKind<FakeKDEPrompter>([
        Interface(
            "org.kde.secretprompter",
            methods: ["UnlockCollectionPrompt", "CreateCollectionPrompt"].map { name in
                Method(name, in: parameters) { (prompter, call) throws(BusError) in try prompter.begin(call) }
            }
        )
    ])

    private func begin(_ call: MethodCall) throws(BusError) {
        let (path, window, token, name) = try call.arguments(ObjectPath.self, String.self, String.self, String.self)
        if responses.first == .refuse {
            events.record("refused")
            throw BusError(.failed, "not today")
        }
        request = (call.peer.name, path)
        connection.subscribe(to: signal("Retry", from: call.peer.name, path)) { [weak self] message in
            guard let self, let reason = try? message.read(String.self) else { return }
            events.record("Retry \(reason)")
            respond()
        }
        connection.subscribe(to: signal("Dismiss", from: call.peer.name, path)) { [weak self] _ in
            self?.events.record("Dismiss")
            self?.say("Dismissed")
        }
        call.reply()
        events.record("\(call.member) \(window) \(token)\(name)")
        respond()
    }

    private func signal(_ member: String, from sender: String, _ path: ObjectPath) -> SignalMatch {
        SignalMatch(sender: sender, path: path, interface: FakeKDEPrompter.requestInterface, member: member)
    }

    private func respond() {
        let response = responses.first ?? .hang
        if responses.count > 1 { responses.removeFirst() }
        switch response {
        case .type(let password):
            _ = give(password)
        case .typeWithoutEnd(let password):
            openEnds += [give(password)]
        case .typeIntoPipe(let password):
            guard let pipe = try? Pipe() else { return say("Rejected") }
            _ = give(password, pipe.readEnd, pipe.writeEnd)
        case .giveFile(let path):
            say("Accepted", FileDescriptor(owning: open(path, O_RDONLY | O_CLOEXEC)))
        case .reject:
            say("Rejected")
        case .crash:
            crash()
        case .hang, .refuse:
            break
        }
    }

    /// Writes a password into a socket and returns its other end.
    private func give(_ password: [UInt8]) -> FileDescriptor {
        var ends: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends)
        return give(password, ends[0], ends[1])
    }

    /// Writes a password and returns the end that it was written to.
    private func give(_ password: [UInt8], _ readEnd: Int32, _ writeEnd: Int32) -> FileDescriptor {
        let writeEnd = FileDescriptor(owning: writeEnd)
        _ = password.withUnsafeBytes { write(writeEnd.rawValue, $0.baseAddress, $0.count) }
        let sent = FileDescriptor(owning: readEnd)
        sentEnds.append(sent)
        say("Accepted", sent)
        return writeEnd
    }
}

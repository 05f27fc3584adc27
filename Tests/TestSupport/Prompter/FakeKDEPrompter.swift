package import DBus
import Foundation

/// A prompter like KDE's without a screen, on a connection of its own: it takes the name `org.kde.secretprompter`, and does with each
/// question what the test has said.
@BusActor
package final class FakeKDEPrompter {
    /// What it does with a question, be it a new dialog or a retry.
    package enum Response: Hashable, Sendable {
        /// A person types this.
        case type([UInt8])
        /// The same, but the descriptor is a pipe that is kept open after it.
        case typeWithoutEnd([UInt8])
        /// Gives a descriptor of a file.
        case giveFile(String)
        /// A person cancels.
        case reject
        /// Never answers.
        case hang
        /// Leaves the bus.
        case crash
        /// Fails the call that asks.
        case refuse
    }

    /// Every question: `UnlockCollectionPrompt WINDOW NAME` and the like, `Retry REASON`, `Dismiss`; and `action NUMBER`, the answers
    /// that it gets.
    package nonisolated let events = Recorder<String>()

    private let connection: Connection
    private var responses: [Response]
    private var request: (caller: String, path: ObjectPath)?
    private var openEnds: [FileDescriptor] = []

    /// Connects, and takes the name.
    ///
    /// - Parameter responses: what it does with the questions, one after the other; the last goes on for ever.
    package init(on bus: PrivateBus, _ responses: [Response]) throws {
        self.responses = responses
        connection = try bus.connect()
        connection.server = ObjectServer(on: connection, limit: 16) { [unowned self] call throws(BusError) in
            guard call.path == "/SecretPrompter" else {
                throw BusError(.unknownObject, "there is only a prompter here")
            }
            return FakeKDEPrompter.kind.target(self)
        }
        guard try connection.requestName("org.kde.secretprompter") == .owner else {
            throw BusError(.failed, "the bus has a prompter already")
        }
    }

    isolated deinit {
        crash()
    }

    /// Leaves the bus at once.
    package func crash() {
        connection.close()
    }

    /// Says that a password was entered, or `Rejected` or `Dismissed`, whether it was asked or not.
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

    /// Passes one end of a socket in which a password is; gives back the other.
    private func give(_ password: [UInt8]) -> FileDescriptor {
        var ends: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends)
        let writeEnd = FileDescriptor(owning: ends[1])
        _ = password.withUnsafeBytes { write(writeEnd.rawValue, $0.baseAddress, $0.count) }
        say("Accepted", FileDescriptor(owning: ends[0]))
        return writeEnd
    }
}

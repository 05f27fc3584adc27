package import KeychaindDBus

/// A faulty fprintd with its own connection.
@BusActor
package final class FakeFprintd {
    /// The answer to a call.
    package enum Answer: Hashable, Sendable {
        /// As fprintd answers.
        case proper
        /// With values that the interface does not define.
        case garbage
        /// No answer.
        case nothing
        /// An error of this name.
        case error(String)
        /// It disconnects instead.
        case crash
    }

    /// The name of every called method.
    package nonisolated let calls = Recorder<String>()

    /// The answers by method; the default is proper.
    package var answers: [String: Answer]

    private static let busName = "net.reactivated.Fprint"
    private static let path = ObjectPath(unchecked: "/net/reactivated/Fprint/Device/0")

    private let connection: Connection
    private let gone = Recorder<Void>()

    /// Connects and takes the name.
    package init(on bus: PrivateBus, _ answers: [String: Answer] = [:]) throws {
        self.answers = answers
        connection = try bus.connect()
        connection.server = ObjectServer(on: connection, limit: 64) { [weak self] (call) throws(BusError) in
            guard let self else { throw BusError(.unknownObject, "gone") }
            return Target(service: self)
        }
        try connection.takeName(FakeFprintd.busName)
    }

    isolated deinit {
        crash()
    }

    /// Disconnects.
    package func crash() {
        connection.close()
        gone.finish()
    }

    /// Sends the reader's signal for a scan.
    package func signal(_ status: String, isDone: Bool = true) {
        connection.send(FakeFprintd.verifyStatus(status, isDone: isDone))
    }

    /// Sends the signal with wrong arguments.
    package func signalGarbage() {
        let message = Message.signal(FakeFprintd.path, FakeFprintd.busName + ".Device", "VerifyStatus")
        message.append(UInt32(1), "verify-match")
        connection.send(message)
    }

    /// Creates the signal.
    package static func verifyStatus(_ status: String, isDone: Bool) -> Message {
        let message = Message.signal(path, busName + ".Device", "VerifyStatus")
        message.append(status, isDone)
        return message
    }

    private struct Target: ObjectTarget {
        let service: FakeFprintd

        func dispatch(_ call: MethodCall) throws(BusError) -> Dispatch {
            defer { service.calls.record(call.member) }
            switch service.answers[call.member] ?? .proper {
            case .proper: FakeFprintd.answer(call)
            case .garbage: call.reply(with: UInt32(1), ["garbage": "garbage"])
            case .nothing: return .suspending { [gone = service.gone] in _ = try? await gone.first("the end") }
            case .error(let name): throw BusError(ErrorName(rawValue: name), "so the test has said")
            case .crash: service.crash()
            }
            return .answered
        }
    }

    private static func answer(_ call: MethodCall) {
        switch call.member {
        case "GetDevices": call.reply(with: [path])
        case "ListEnrolledFingers": call.reply(with: ["right-index-finger"])
        case "GetAll": call.reply(with: ["name": Variant.string("Fake reader"), "scan-type": .string("press")])
        default: call.reply()
        }
    }
}

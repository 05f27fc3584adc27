package import KeychaindDBus

/// A stand-in for polkit, which fprintd asks whether a program may use the reader.
///
/// It owns `org.freedesktop.PolicyKit1` on its own connection, asks nobody, and answers as the test says.
@BusActor
package final class FakePolkit {
    /// The answer to a question.
    package enum Answer: Hashable, Sendable {
        case authorized
        case refused
    }

    /// Every question, in order.
    package nonisolated let questions = Recorder<Void>()

    /// The answer to further questions.
    package var answer = Answer.authorized

    private let connection: Connection

    /// Connects and takes the name.
    package init(on bus: PrivateBus) throws {
        connection = try bus.connect()
        connection.server = ObjectServer(on: connection, limit: 16) { [weak self] (call) throws(BusError) in
            guard let self, call.path == "/org/freedesktop/PolicyKit1/Authority" else {
                throw BusError(.unknownObject, "there is only an authority here")
            }
            return FakePolkit.kind.target(self)
        }
        try connection.takeName("org.freedesktop.PolicyKit1")
    }

    isolated deinit {
        connection.close()
    }

    private static let kind = ObjectKind<FakePolkit>([
        Interface(
            "org.freedesktop.PolicyKit1.Authority",
            methods: [
                Method(
                    "CheckAuthorization",
                    in: [
                        Parameter("subject", signature: "(sa{sv})"), Parameter("action_id", String.self),
                        Parameter("details", [String: String].self), Parameter("flags", UInt32.self),
                        Parameter("cancellation_id", String.self),
                    ],
                    out: [Parameter("result", signature: "(bba{ss})")]
                ) { (polkit, call) throws(BusError) in
                    polkit.questions.record(())
                    polkit.reply(to: call)
                }
            ],
            properties: [
                Property("BackendName", String.self) { _ in "fake" },
                Property("BackendVersion", String.self) { _ in "1" },
                Property("BackendFeatures", UInt32.self) { _ in 0 },
            ]
        )
    ])

    private func reply(to call: MethodCall) {
        call.reply { writer in
            writer.writeStructure { writer in
                (answer == .authorized).write(to: &writer)
                // No dialog would change the answer.
                false.write(to: &writer)
                [String: String]().write(to: &writer)
            }
        }
    }
}

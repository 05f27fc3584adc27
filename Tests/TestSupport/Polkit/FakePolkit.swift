package import DBus

/// An authority like polkit's on a connection of its own: it takes the name `org.freedesktop.PolicyKit1`, asks nobody, and answers
/// as the test has said.
@BusActor
package final class FakePolkit {
    /// The name that it takes.
    package nonisolated static let busName = "org.freedesktop.PolicyKit1"

    /// What it answers to a question.
    package enum Answer: Hashable, Sendable {
        case authorized
        /// No, and without a way to change that.
        case refused
        /// No, but a dialog could change that, and none may be shown or none can be.
        case challenge
        /// The person has dismissed the dialog.
        case dismissed
        /// Does not answer, until it is cancelled or the test says so.
        case hang
        /// Fails with an error of this name.
        case error(String)
        /// Answers with what its interface does not know.
        case garbage
        /// Leaves the bus.
        case crash
    }

    /// A question that has come.
    package struct Question: Sendable {
        package let subjectKind: String
        package let subject: [String: Variant]
        package let action: String
        package let details: [String: String]
        package let flags: UInt32
        package let cancellationID: String
    }

    /// Every question, in the order in which they came.
    package nonisolated let questions = Recorder<Question>()

    /// The id of everything that was cancelled.
    package nonisolated let cancellations = Recorder<String>()

    /// What it answers from here on.
    package var answer: Answer

    /// What it answers where it may ask a person; nil for the same.
    package var answerToDialog: Answer?

    /// Whether it takes details from whoever asks; the real one does from few.
    package var takesDetails = true

    /// Whether a dialog goes away when it is cancelled.
    package var heedsCancellation = true

    private let connection: Connection
    private let gone = Recorder<Void>()
    private var hanging: [String: Promise<Answer?>] = [:]

    /// Connects, and takes the name.
    package init(on bus: PrivateBus, _ answer: Answer = .authorized) throws {
        self.answer = answer
        connection = try bus.connect()
        connection.server = ObjectServer(on: connection, limit: 16) { [weak self] (call) throws(BusError) in
            guard let self, call.path == "/org/freedesktop/PolicyKit1/Authority" else {
                throw BusError(.unknownObject, "there is only an authority here")
            }
            return FakePolkit.kind.target(self)
        }
        guard try connection.requestName(FakePolkit.busName) == .owner else {
            throw BusError(.failed, "the bus has an authority already")
        }
    }

    isolated deinit {
        crash()
    }

    /// Sets what it answers where it may ask a person.
    package func answerDialogs(with answer: Answer) {
        answerToDialog = answer
    }

    /// Sets what it answers, whether it may ask a person or not.
    package func answerEverything(with answer: Answer) {
        self.answer = answer
        answerToDialog = nil
    }

    /// Leaves the bus at once.
    package func crash() {
        answerHanging(with: nil)
        connection.close()
    }

    /// Has dialogs stay on the screen when they are cancelled.
    package func ignoreCancellations() {
        heedsCancellation = false
    }

    /// Answers the dialogs that hang, nil as cancelled.
    package func answerHanging(with answer: Answer?) {
        let all = hanging.values
        hanging = [:]
        for promise in all {
            promise.fulfill(answer)
        }
    }

    private static let kind = ObjectKind<FakePolkit>([
        Interface(
            "org.freedesktop.PolicyKit1.Authority",
            methods: [
                Method(
                    suspending: "CheckAuthorization",
                    in: [
                        Parameter("subject", signature: "(sa{sv})"), Parameter("action_id", String.self),
                        Parameter("details", [String: String].self), Parameter("flags", UInt32.self),
                        Parameter("cancellation_id", String.self),
                    ],
                    out: [Parameter("result", signature: "(bba{ss})")]
                ) { (polkit, call) async throws(BusError) in
                    try await polkit.check(call)
                },
                Method("CancelCheckAuthorization", in: [Parameter("cancellation_id", String.self)]) {
                    (polkit, call) throws(BusError) in
                    let id = try call.arguments(String.self)
                    call.reply()
                    polkit.cancellations.record(id)
                    guard polkit.heedsCancellation else { return }
                    polkit.hanging.removeValue(forKey: id)?.fulfill(nil)
                },
            ],
            properties: [
                Property("BackendName", String.self) { _ in "fake" },
                Property("BackendVersion", String.self) { _ in "1" },
                Property("BackendFeatures", UInt32.self) { _ in 0 },
            ]
        )
    ])

    private func check(_ call: MethodCall) async throws(BusError) {
        let question = try FakePolkit.question(of: call)
        questions.record(question)
        guard takesDetails || question.details.isEmpty else {
            throw BusError(
                ErrorName(rawValue: "org.freedesktop.PolicyKit1.Error.NotAuthorized"),
                "only trusted callers may pass details"
            )
        }
        try await reply(to: call, with: question.flags == 0 ? answer : answerToDialog ?? answer, of: question)
    }

    private func reply(to call: MethodCall, with answer: Answer, of question: Question) async throws(BusError) {
        switch answer {
        case .authorized: reply(to: call, isAuthorized: true)
        case .refused: reply(to: call)
        case .challenge: reply(to: call, isChallenge: true)
        case .dismissed: reply(to: call, isChallenge: true, details: ["polkit.dismissed": "true"])
        case .hang:
            // Checks without an id share one promise.
            let promise = hanging[question.cancellationID] ?? Promise()
            hanging[question.cancellationID] = promise
            if let answer = await promise.value() {
                return try await reply(to: call, with: answer, of: question)
            }
            throw BusError(
                ErrorName(rawValue: "org.freedesktop.PolicyKit1.Error.Cancelled"),
                "the check was cancelled"
            )
        case .error(let name): throw BusError(ErrorName(rawValue: name), "so the test has said")
        case .garbage: call.reply(with: "garbage")
        case .crash: crash()
        }
    }

    private static func question(of call: MethodCall) throws(BusError) -> Question {
        var reader = call.message.makeReader()
        let (kind, subject) = try reader.readStructure { (reader) throws(BusError) in
            (try String(from: &reader), try [String: Variant](from: &reader))
        }
        return Question(
            subjectKind: kind,
            subject: subject,
            action: try String(from: &reader),
            details: try [String: String](from: &reader),
            flags: try UInt32(from: &reader),
            cancellationID: try String(from: &reader)
        )
    }

    private func reply(
        to call: MethodCall,
        isAuthorized: Bool = false,
        isChallenge: Bool = false,
        details: [String: String] = [:]
    ) {
        call.reply { writer in
            writer.writeStructure { writer in
                isAuthorized.write(to: &writer)
                isChallenge.write(to: &writer)
                details.write(to: &writer)
            }
        }
    }
}

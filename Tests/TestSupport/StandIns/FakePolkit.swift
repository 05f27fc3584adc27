package import KeychaindDBus

/// A stand-in for polkit.
///
/// It owns `org.freedesktop.PolicyKit1` on its own connection, asks nobody, and answers as the test says.
@BusActor
package final class FakePolkit {
    /// Its bus name.
    package nonisolated static let busName = "org.freedesktop.PolicyKit1"

    /// The answer to a question.
    package enum Answer: Hashable, Sendable {
        case authorized
        /// No, and no dialog could change it.
        case refused
        /// No; a dialog could change it, but may not or cannot be shown.
        case challenge
        /// The user dismissed the dialog.
        case dismissed
        /// No answer until it is cancelled or the test gives one.
        case hang
        /// An error of this name.
        case error(String)
        /// An answer that the interface does not define.
        case garbage
        /// Disconnects.
        case crash
    }

    /// A received question.
    package struct Question: Sendable {
        package let subjectKind: String
        package let subject: [String: Variant]
        package let action: String
        package let details: [String: String]
        package let flags: UInt32
        package let cancellationID: String
    }

    /// Every question, in order.
    package nonisolated let questions = Recorder<Question>()

    /// The id of every cancelled question.
    package nonisolated let cancellations = Recorder<String>()

    /// The answer to further questions.
    package var answer: Answer

    /// The answer if a dialog is allowed; nil for the same.
    package var answerToDialog: Answer?

    /// Whether any caller may pass details; the real polkit allows few.
    package var takesDetails = true

    /// Whether cancelling closes a dialog.
    package var heedsCancellation = true

    private let connection: Connection
    private let gone = Recorder<Void>()
    private var hanging: [String: Promise<Answer?>] = [:]

    /// Connects and takes the name.
    package init(on bus: PrivateBus, _ answer: Answer = .authorized) throws {
        self.answer = answer
        connection = try bus.connect()
        connection.server = ObjectServer(on: connection, limit: 16) { [weak self] (call) throws(BusError) in
            guard let self, call.path == "/org/freedesktop/PolicyKit1/Authority" else {
                throw BusError(.unknownObject, "there is only an authority here")
            }
            return FakePolkit.kind.target(self)
        }
        try connection.takeName(FakePolkit.busName)
    }

    isolated deinit {
        crash()
    }

    /// Sets the answer if a dialog is allowed.
    package func answerDialogs(with answer: Answer) {
        answerToDialog = answer
    }

    /// Sets the answer with and without a dialog.
    package func answerEverything(with answer: Answer) {
        self.answer = answer
        answerToDialog = nil
    }

    /// Disconnects.
    package func crash() {
        answerHanging(with: nil)
        connection.close()
    }

    /// Keeps dialogs open after they are cancelled.
    package func ignoreCancellations() {
        heedsCancellation = false
    }

    /// Answers the pending dialogs; nil cancels them.
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

import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindLanguage
import KeychaindModel
import KeychaindTestSupport
import Testing

/// An evaluator with fakes, whose evaluations ask through a scripted prompter.
@BusActor
final class EvaluationFixture {
    /// A clock that a test sets.
    ///
    /// `@unchecked Sendable`: used only on the event-loop thread, to which all its tests are isolated.
    final class Time: @unchecked Sendable {
        var now = Duration.seconds(1000)
    }

    let reader = FakeReader()
    let prompter = ScriptedPrompter()
    let queue: PromptQueue
    let words = EvaluationWords(message: "Bank")
    private(set) var conversation: Conversation
    let passcode = FakePassword("right")
    let applicationPassword = FakePassword("own")
    let store = MemoryLockoutStore()
    let timers = ManualScheduler()
    let time = Time()
    var isSessionLocked = false
    private(set) lazy var lockout = LockoutKeeper(
        store: store,
        clock: BootClock(bootID: "boot") { [time] in time.now }
    )
    private(set) lazy var evaluator = Evaluator(
        biometry: reader,
        lockout: lockout,
        scheduler: timers.scheduler,
        isSessionLocked: { [unowned self] in isSessionLocked }
    )

    /// - Parameter queueLimit: the number of waiting conversations.
    init(queueLimit: Int = 1024) {
        queue = PromptQueue(prompter, limit: queueLimit, logger: .silent)
        conversation = queue.makeConversation(for: TestRequester(":1.1"))
        prompter.revises = true
        applicationPassword.lockout = LockoutKeeper(
            store: MemoryLockoutStore(),
            clock: BootClock(bootID: "boot") { [time] in time.now }
        )
    }

    /// Begins an evaluation of an access control, in the same conversation unless that has ended.
    func begin(
        _ accessControl: String,
        boundTo set: BiometrySet? = FakeReader.set,
        proved: FactorSet = [],
        isInteractionAllowed: Bool = true
    ) throws -> Evaluation {
        if conversation.isEnded { conversation = queue.makeConversation(for: TestRequester(":1.1")) }
        return begin(
            EvaluationRequest(
                Requirement(policy: try AccessControl(parsing: accessControl).policy, boundSet: set),
                proved: proved,
                isInteractionAllowed: isInteractionAllowed
            )
        )
    }

    /// Begins an evaluation in the same conversation.
    func begin(_ request: EvaluationRequest, by evaluator: Evaluator? = nil) -> Evaluation {
        let hasOwnPassword = request.requirement.policy?.factors.contains(.applicationPassword) == true
        return (evaluator ?? self.evaluator).evaluate(
            request,
            passcode: passcode,
            applicationPassword: hasOwnPassword ? applicationPassword : nil,
            asking: conversation,
            words
        )
    }

    /// Gives the turn to another conversation, until it ends.
    func giveTurnToAnother() async throws -> Conversation {
        let other = queue.makeConversation(for: TestRequester(":1.9"))
        #expect(try await other.begin())
        return other
    }

    /// Waits for the match of that number, counted from one.
    func match(_ number: Int = 1) async throws -> FakeReader.Match {
        try await reader.matches.first("match \(number)", after: number - 1)
    }

    func request(
        _ passwords: FactorSet,
        reader: BiometryHint?,
        readerSuffices: Bool = true,
        warning: String = "",
        touch: PromptRequest.Touch? = nil
    ) -> PromptRequest {
        let question = EvaluationQuestion(
            passwords: passwords,
            reader: reader,
            readerSuffices: readerSuffices,
            warning: Text(verbatim: warning),
            touch: touch
        )
        return words.request(for: question)
    }

    /// Waits for the next asked or revised request after a number of others.
    func question(after count: Int = 0) async throws -> PromptRequest {
        try await prompter.requests.first("a question", after: count)
    }

    /// Types a password into the current dialog.
    func type(_ text: String) throws {
        prompter.answerNow(.password(try SecureBytes(copying: Array(text.utf8))))
    }

    /// Types a password into the current dialog, and waits for the next question.
    @discardableResult
    func typeAndWait(_ text: String) async throws -> PromptRequest {
        let count = prompter.requests.count
        try type(text)
        return try await question(after: count)
    }

    /// Runs all due work of the event loop.
    func settle() async {
        for _ in 0..<20 { await BusActor.loop.wait(for: .zero) }
    }

    /// Ends matches as not matched, and waits for the next one.
    func failTouches(_ numbers: ClosedRange<Int>) async throws {
        for number in numbers {
            try await match(number).end(.notMatched)
        }
    }
}

extension EvaluationOutcome {
    var factors: FactorSet? {
        if case .satisfied(let proofs) = self { proofs.factors } else { nil }
    }

    var code: AuthenticationError.Code? {
        if case .failed(let error) = self { error.code } else { nil }
    }
}

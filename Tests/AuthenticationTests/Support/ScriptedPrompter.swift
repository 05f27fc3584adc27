import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindTestSupport

/// A prompter without a screen, whose dialogs a test controls.
@BusActor
final class ScriptedPrompter: Prompter {
    let name = "scripted"

    /// The events in order: `open NAME`, `ask MESSAGE WARNING`, `revise WARNING`, `close`.
    nonisolated let events = Recorder<String>()
    /// The requests as asked or revised.
    nonisolated let requests = Recorder<PromptRequest>()
    /// The dialogs in the order of opening.
    private(set) var dialogs: [ScriptedDialog] = []

    /// The error of opening.
    var failure: PromptError?
    /// The questions that dialogs can ask.
    var questions: Set<PromptRequest.Question> = [.password, .newPassword, .confirmation, .waiting]
    var trust = PrompterTrust.trusted
    var isActive = true
    /// Called when the trust is read.
    var whenJudged: (@BusActor () -> Void)?
    var revises = false
    /// Whether dialogs show a question at once; otherwise ``show()`` does.
    var showsAtOnce = true
    /// The password that a dialog answers while it closes.
    var passwordOnClose: String?
    /// Whether opening waits for ``letOpen()``.
    var isSlow = false

    private var openings: [CheckedContinuation<Void, Never>] = []

    nonisolated init() {}

    func expectedTrust(for requester: any Requester) async -> PrompterTrust? { failure == nil ? trust : nil }

    func open(
        for requester: any Requester,
        asking question: PromptRequest.Question
    ) async throws(PromptError) -> any PromptDialog {
        events.record("open \(requester.name)")
        if isSlow {
            await withCheckedContinuation { continuation in
                guard isSlow else { return continuation.resume() }
                openings.append(continuation)
            }
        }
        if let failure { throw failure }
        let dialog = ScriptedDialog(self, questions: questions)
        dialogs.append(dialog)
        return dialog
    }

    /// Opens all waiting dialogs.
    func letOpen() {
        isSlow = false
        let waiting = openings
        openings = []
        for opening in waiting { opening.resume() }
    }

    /// Shows the question of the last dialog.
    func show() {
        dialogs.last?.show()
    }

    /// Answers the current question of the last dialog, if any.
    func answerNow(_ answer: consuming PromptAnswer) {
        guard let dialog = dialogs.last, dialog.isAsking else { return }
        dialog.answer(answer)
    }

    /// Asks in a task; returns once the question is on the screen.
    func ask(_ request: PromptRequest, in conversation: Conversation) async throws -> Task<Answer, any Error> {
        let count = events.count
        let task = Task.immediate { @BusActor in Answer(try await conversation.ask(request)) }
        _ = try await events.first("the question", after: count) { $0.hasPrefix("ask ") }
        return task
    }

    /// Answers the question of the last dialog, once there is one.
    func answer(_ answer: consuming PromptAnswer, after start: Int = 0) async throws {
        _ = try await events.first("the question", after: start) { $0.hasPrefix("ask ") }
        dialogs.last?.answer(answer)
    }
}

@BusActor
final class ScriptedDialog: PromptDialog {
    private let prompter: ScriptedPrompter
    private let questions: Set<PromptRequest.Question>
    private var continuation: CheckedContinuation<Void, Never>?
    private var next: PromptAnswer?
    private var error: PromptError?
    private var isAnswered = false
    private var isClosed = false
    private var whenShown: (@BusActor () -> Void)?
    private(set) var isAsking = false
    var hasChosen = false
    var isActive: Bool { prompter.isActive }

    init(_ prompter: ScriptedPrompter, questions: Set<PromptRequest.Question>) {
        self.prompter = prompter
        self.questions = questions
    }

    func canAsk(_ question: PromptRequest.Question) -> Bool { questions.contains(question) }

    func ask(
        _ request: PromptRequest,
        whenShown: @escaping @BusActor () -> Void
    ) async throws(PromptError) -> PromptAnswer {
        if isClosed { return .withdrawn }
        isAsking = true
        self.whenShown = whenShown
        defer {
            isAsking = false
            self.whenShown = nil
        }
        prompter.requests.record(request)
        prompter.events.record("ask \(request.message) \(request.warning)")
        if prompter.showsAtOnce { whenShown() }
        await withCheckedContinuation { continuation in
            self.continuation = continuation
            if isAnswered { resume() }
        }
        isAnswered = false
        if let error { throw error }
        return next.take() ?? .withdrawn
    }

    func revise(_ request: PromptRequest) -> Bool {
        guard prompter.revises else { return false }
        prompter.requests.record(request)
        prompter.events.record("revise \(request.warning)")
        return true
    }

    func trust() async -> PrompterTrust {
        prompter.whenJudged?()
        return prompter.trust
    }

    func close() {
        if isClosed { return }
        isClosed = true
        prompter.events.record("close")
        if let password = prompter.passwordOnClose {
            guard let bytes = try? SecureBytes(copying: Array(password.utf8)) else { return resume() }
            next = .password(bytes)
        }
        resume()
    }

    func show() {
        whenShown?()
    }

    func answer(_ answer: consuming PromptAnswer) {
        next = consume answer
        resume()
    }

    func fail(_ error: PromptError) {
        self.error = error
        resume()
    }

    private func resume() {
        isAnswered = true
        continuation?.resume()
        continuation = nil
    }
}

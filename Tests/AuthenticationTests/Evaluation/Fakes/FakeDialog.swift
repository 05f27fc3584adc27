import Authentication
import DBus
import Gcrypt
import TestSupport

/// A dialog that a test answers.
@BusActor
final class FakeDialog: EvaluationDialog {
    /// What has happened to it.
    enum Event: Hashable, Sendable {
        case begun
        case asked(EvaluationQuestion)
        case revised(EvaluationQuestion)
        case withdrawn
        case held
        case released
    }

    /// Whether a prompter is there.
    var isThere = true
    /// Whether it shows a question at once; otherwise ``show()`` does.
    var showsAtOnce = true
    /// Whether its turn comes at once; otherwise ``giveTurn(_:)`` gives it.
    var hasTurn = true
    /// How far it is trusted; untrusted, it asks for nothing that takes a touch.
    var trustNow = PrompterTrust.trusted
    /// Whether it changes its words without going away.
    var revises = true
    /// What a question is answered that is taken back.
    var answersWithdrawal = FakeAnswer.withdrawn
    let events = Recorder<Event>()

    private var question: CheckedContinuation<FakeAnswer, Never>?
    private var shown: (@BusActor () -> Void)?
    private var turn: CheckedContinuation<AuthenticationError?, Never>?
    private var whenEnded: (@BusActor (AuthenticationError) -> Void)?
    private var ending: AuthenticationError?

    nonisolated init() {}

    func isAvailable() async -> Bool { isThere }

    func begin() async -> AuthenticationError? {
        events.record(.begun)
        if hasTurn { return nil }
        return await withCheckedContinuation { turn = $0 }
    }

    func ask(
        _ question: EvaluationQuestion,
        whenShown: @escaping @BusActor () -> Void
    ) async -> EvaluationAnswer {
        if question.reader != nil, let reason = trustNow.objection { return .untrusted(reason: reason) }
        guard self.question == nil else {
            return .failed(AuthenticationError(.systemCancel, reason: "two questions at a time"))
        }
        let answer = await withCheckedContinuation { continuation in
            self.question = continuation
            shown = whenShown
            events.record(.asked(question))
            if showsAtOnce { whenShown() }
        }
        switch answer {
        case .text(let text):
            do throws(GcryptError) {
                return .password(try SecureBytes(copying: Array(text.utf8)))
            } catch {
                return .failed(AuthenticationError(.systemCancel, reason: "\(error)"))
            }
        case .fallback: return .fallback
        case .cancelled: return .cancelled
        case .withdrawn: return .withdrawn
        case .failed(let error): return .failed(error)
        }
    }

    func revise(_ question: EvaluationQuestion) -> Bool {
        events.record(.revised(question))
        return revises
    }

    func trust() async -> PrompterTrust { trustNow }

    var trustOfAnswer: PrompterTrust { trustNow }

    func withdraw() {
        events.record(.withdrawn)
        answer(answersWithdrawal)
    }

    func whenEnded(_ action: (@BusActor (AuthenticationError) -> Void)?) {
        whenEnded = action
        if let ending { action?(ending) }
    }

    func holdTurn() {
        events.record(.held)
    }

    func releaseTurn() {
        events.record(.released)
    }

    /// Ends the talk, as its owner does.
    func end(_ error: AuthenticationError) {
        ending = error
        whenEnded?(error)
        answer(.withdrawn)
    }

    /// Answers the question that waits, if one does.
    func answer(_ answer: FakeAnswer) {
        question?.resume(returning: answer)
        question = nil
    }

    /// Shows the question that waits.
    func show() {
        shown?()
    }

    /// Gives it its turn, or the reason why it has none.
    func giveTurn(_ failure: AuthenticationError? = nil) {
        turn?.resume(returning: failure)
        turn = nil
    }

    /// Waits for the next question, or change of one, after so many events.
    func question(after count: Int = 0) async throws -> EvaluationQuestion {
        let event = try await events.first("a question", after: count) { event in
            switch event {
            case .asked, .revised: true
            case .begun, .withdrawn, .held, .released: false
            }
        }
        switch event {
        case .asked(let question), .revised(let question): return question
        case .begun, .withdrawn, .held, .released: throw WaitError.ended("a question")
        }
    }
}

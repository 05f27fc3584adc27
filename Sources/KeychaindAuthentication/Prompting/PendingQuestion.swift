import KeychaindDBus
import Logging

/// The question that a dialog is asking, with its time limit; the end of the dialog answers it and all later ones.
@BusActor
final class PendingQuestion<Answer: Sendable> {
    enum Outcome: Sendable {
        case answered(Answer)
        case cancelled
        case withdrawn
        case failed(PromptError)
    }

    private enum State {
        case none
        case asking(deadline: Timer, CheckedContinuation<Outcome, Never>)
        case ended(Outcome)
    }

    private let timeout: Duration
    private let logger: Logger
    private var state = State.none

    /// The number of questions so far; tells a late event of an earlier one.
    private(set) var number = 0

    /// Called once, before the last question is answered.
    var onEnd: (@BusActor () -> Void)?

    /// - Parameter timeout: the time limit of a question.
    init(timeout: Duration, logger: Logger) {
        self.timeout = timeout
        self.logger = logger
    }

    var isAsking: Bool { if case .asking = state { true } else { false } }

    var hasEnded: Bool { if case .ended = state { true } else { false } }

    /// Asks, and waits for the outcome; asks nothing once the dialog has ended.
    func ask(_ start: () -> Void) async -> Outcome {
        await withCheckedContinuation { continuation in
            switch state {
            case .asking:
                let error = PromptError(.failed, reason: "the dialog is already asking a question")
                return continuation.resume(returning: .failed(error))
            case .ended(let outcome):
                return continuation.resume(returning: outcome)
            case .none:
                let deadline = BusActor.loop.schedule(after: timeout) { [weak self] in
                    self?.fail(PromptError(.timedOut, reason: "nobody answered in time"))
                }
                number += 1
                state = .asking(deadline: deadline, continuation)
                start()
            }
        }
    }

    /// Answers the question; the dialog can ask another one.
    func answer(_ answer: Answer) {
        resume(with: .answered(answer), then: .none)
    }

    func fail(_ error: PromptError) {
        guard !hasEnded else { return }
        logger.notice("prompt failed", metadata: ["error": "\(error)"])
        end(.failed(error))
    }

    /// Ends the dialog.
    func end(_ outcome: Outcome) {
        guard !hasEnded else { return }
        let onEnd = onEnd
        self.onEnd = nil
        resume(with: outcome, then: .ended(outcome), onEnd)
    }

    private func resume(with outcome: Outcome, then next: State, _ action: (@BusActor () -> Void)? = nil) {
        let state = state
        self.state = next
        action?()
        guard case .asking(let deadline, let continuation) = state else { return }
        BusActor.loop.cancel(deadline)
        continuation.resume(returning: outcome)
    }
}

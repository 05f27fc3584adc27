import KeychaindDBus
import KeychaindGcrypt
import Logging

/// A dialog of the GCR system prompter.
@BusActor
final class GCRDialog: PromptDialog {
    private enum State {
        /// Waiting for its turn, possibly with a question.
        case queued(Asking?)
        case ready
        case asking(Asking)
        /// The outcome of every further question.
        case ended(Outcome)
    }

    private struct Asking {
        let number: Int
        let request: PromptRequest
        let whenShown: @BusActor () -> Void
        let deadline: Timer
        let continuation: CheckedContinuation<Outcome, Never>
    }

    /// The outcome of a question; a late password is never decrypted.
    ///
    /// It stays encrypted because a continuation carries only copyable values.
    private enum Outcome: Sendable {
        case answered(GCRExchangeMessage)
        case confirmed
        case fallback
        case cancelled
        case withdrawn
        case failed(PromptError)
    }

    /// The limit of presses of a button without effect; only a faulty prompter exceeds it.
    private static let uselessPressLimit = 100

    private let channel: GCRChannel
    private let exchange: GCRExchange
    private let inspector: (any PrompterInspector)?
    private let timeout: Duration
    private let logger: Logger
    private var state = State.queued(nil)
    private var askedCount = 0
    /// The label of the checkbox, and whether it is ticked, which a repeated question keeps.
    private var choice = (label: "", isTicked: false)
    private var uselessPressCount = 0

    init(
        _ channel: GCRChannel,
        exchange: consuming GCRExchange,
        inspector: (any PrompterInspector)?,
        timeout: Duration,
        logger: Logger
    ) {
        self.channel = channel
        self.exchange = exchange
        self.inspector = inspector
        self.timeout = timeout
        self.logger = logger
        channel.onEvent = { [weak self] in self?.receive($0) }
    }

    isolated deinit {
        channel.stop()
    }

    /// Requests a turn; returns when the prompter knows the dialog.
    func begin(timeout: Duration) async throws(BusError) {
        try await channel.begin(timeout: timeout)
    }

    func canAsk(_ question: PromptRequest.Question) -> Bool { true }

    /// Asks as soon as this dialog has its turn.
    func ask(
        _ request: PromptRequest,
        whenShown: @escaping @BusActor () -> Void
    ) async throws(PromptError) -> PromptAnswer {
        switch await outcome(of: request, whenShown) {
        case .answered(let message):
            do throws(PromptError) {
                return .password(try exchange.openPassword(in: message))
            } catch {
                fail(error)
                throw error
            }
        case .confirmed: return .confirmed
        case .fallback: return .fallback
        case .cancelled: return .cancelled
        case .withdrawn: return .withdrawn
        case .failed(let error): throw error
        }
    }

    var hasChosen: Bool { choice.isTicked && !choice.label.isEmpty }

    /// False: the prompter shows each question unchanged.
    func revise(_ request: PromptRequest) -> Bool { false }

    /// The trust in the process that opened the dialog, not in a later owner of the name.
    func trust() async -> PrompterTrust {
        await inspector?.trust(inOwner: channel.peer, of: GCRPrompter.busName) ?? .trusted
    }

    func close() {
        end(.withdrawn)
    }

    // MARK: Asking

    private func outcome(
        of request: PromptRequest,
        _ whenShown: @escaping @BusActor () -> Void
    ) async -> Outcome {
        await withCheckedContinuation { continuation in
            let deadline = BusActor.loop.schedule(after: timeout) { [weak self] in
                self?.fail(PromptError(.timedOut, reason: "nobody answered in time"))
            }
            askedCount += 1
            let asking = Asking(
                number: askedCount,
                request: request,
                whenShown: whenShown,
                deadline: deadline,
                continuation: continuation
            )
            switch state {
            case .queued(nil): state = .queued(asking)
            case .ready: perform(asking)
            case .queued, .asking:
                resume(asking, with: .failed(PromptError(.failed, reason: "the dialog is already asking a question")))
            case .ended(let outcome): resume(asking, with: outcome)
            }
        }
    }

    private func perform(_ asking: Asking) {
        state = .asking(asking)
        let label = asking.request.choice?.label ?? ""
        if choice.label != label { choice = (label, false) }
        BusActor.start { [self, isChosen = choice.isTicked] in
            do throws(BusError) {
                try await channel.perform(
                    asking.request,
                    isChosen: isChosen,
                    exchange: exchange.greeting,
                    timeout: timeout
                )
                if case .asking(let current) = state, current.number == asking.number { asking.whenShown() }
            } catch {
                // After a timeout the prompter may still show the question; other checks detect a silent or vanished
                // one.
                guard error.name != .noReply, case .asking(let current) = state, current.number == asking.number else {
                    return
                }
                fail(PromptError(.failed, reason: "the prompter rejected the question: \(error)"))
            }
        }
    }

    private func resume(_ asking: Asking, with outcome: Outcome) {
        BusActor.loop.cancel(asking.deadline)
        asking.continuation.resume(returning: outcome)
    }

    // MARK: Events

    private func receive(_ event: GCRChannel.Event) {
        switch event {
        case .ready(let ready):
            if case .asking = state, let isChosen = ready.isChosen { choice.isTicked = isChosen }
            receiveReady(ready.reply, ready.exchange)
        case .done: fail(PromptError(.interrupted, reason: "the prompter closed the dialog"))
        case .vanished: fail(PromptError(.crashed, reason: "the prompter left the bus"))
        }
    }

    private func receiveReady(_ reply: String, _ exchange: GCRExchangeMessage?) {
        switch (state, reply) {
        case (.queued(let asking), ""):
            guard exchange != nil else { return failOnGarbage() }
            if let asking {
                perform(asking)
            } else {
                state = .ready
            }
        case (.asking(let asking), "yes"):
            guard let exchange else { return failOnGarbage() }
            receiveYes(to: asking, exchange)
        case (.asking, "no"):
            end(.cancelled)
        case (.queued, _), (.asking, _):
            failOnGarbage()
        case (.ready, _), (.ended, _):
            // No question is pending.
            logger.debug("ignored an answer of the prompter; no question is pending")
        }
    }

    private func receiveYes(to asking: Asking, _ exchange: GCRExchangeMessage) {
        state = .ready
        switch asking.request.question {
        case .password, .newPassword:
            resume(asking, with: .answered(exchange))
        case .confirmation:
            resume(asking, with: .confirmed)
        case .waiting where !asking.request.fallbackLabel.isEmpty:
            resume(asking, with: .fallback)
        case .waiting:
            uselessPressCount += 1
            guard uselessPressCount <= GCRDialog.uselessPressLimit else {
                state = .asking(asking)
                return failOnGarbage()
            }
            perform(asking)
        }
    }

    // MARK: Ending

    private func failOnGarbage() {
        fail(PromptError(.failed, reason: "the prompter's answer violates its protocol"))
    }

    private func fail(_ error: PromptError) {
        if case .ended = state { return }
        logger.notice("prompt failed", metadata: ["error": "\(error)"])
        end(.failed(error))
    }

    private func end(_ outcome: Outcome) {
        let ended = state
        if case .ended = ended { return }
        state = .ended(outcome)
        channel.stop()
        switch ended {
        case .queued(let asking?), .asking(let asking): resume(asking, with: outcome)
        case .queued, .ready, .ended: break
        }
    }
}

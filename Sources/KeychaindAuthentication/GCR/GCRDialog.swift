import KeychaindDBus
import KeychaindGcrypt
import Logging

/// A dialog of the GCR system prompter.
@BusActor
final class GCRDialog: PromptDialog {
    /// An answer; the password stays encrypted, because a continuation carries only copyable values.
    private enum Answer: Sendable {
        case password(GCRExchangeMessage)
        case confirmed
        case fallback
    }

    private typealias Asked = (request: PromptRequest, whenShown: @BusActor () -> Void)

    /// The limit of presses of a button without effect; only a faulty prompter exceeds it.
    private static let uselessPressLimit = 100

    private let channel: GCRChannel
    private let exchange: GCRExchange
    private let inspector: (any PrompterInspector)?
    private let timeout: Duration
    private let logger: Logger
    private let question: PendingQuestion<Answer>
    /// The pending question; shown once the prompter has given this dialog its turn.
    private var asked: Asked?
    private var hasTurn = false
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
        question = PendingQuestion(timeout: timeout, logger: logger)
        question.onEnd = { [channel] in channel.stop() }
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
        let outcome = await question.ask {
            asked = (request, whenShown)
            if hasTurn { perform((request, whenShown)) }
        }
        switch outcome {
        case .answered(.password(let message)):
            do throws(PromptError) {
                return .password(try exchange.openPassword(in: message))
            } catch {
                question.fail(error)
                throw error
            }
        case .answered(.confirmed): return .confirmed
        case .answered(.fallback): return .fallback
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
        question.end(.withdrawn)
    }

    private func perform(_ asked: Asked) {
        let label = asked.request.choice?.label ?? ""
        if choice.label != label { choice = (label, false) }
        BusActor.start { [self, isChosen = choice.isTicked, number = question.number] in
            let isCurrent = { [question] in question.isAsking && question.number == number }
            do throws(BusError) {
                try await channel.perform(
                    asked.request,
                    isChosen: isChosen,
                    exchange: exchange.greeting,
                    timeout: timeout
                )
                if isCurrent() { asked.whenShown() }
            } catch {
                // After a timeout the prompter may still show the question; other checks detect a silent or vanished
                // one.
                guard error.name != .noReply, isCurrent() else { return }
                question.fail(PromptError(.failed, reason: "the prompter rejected the question: \(error)"))
            }
        }
    }

    // MARK: Events

    private func receive(_ event: GCRChannel.Event) {
        switch event {
        case .ready(let ready):
            if hasTurn, question.isAsking, let isChosen = ready.isChosen { choice.isTicked = isChosen }
            receiveReady(ready.reply, ready.exchange)
        case .done: question.fail(PromptError(.interrupted, reason: "the prompter closed the dialog"))
        case .vanished: question.fail(PromptError(.crashed, reason: "the prompter left the bus"))
        }
    }

    private func receiveReady(_ reply: String, _ exchange: GCRExchangeMessage?) {
        guard hasTurn else {
            guard reply.isEmpty, exchange != nil else { return failOnGarbage() }
            hasTurn = true
            if question.isAsking, let asked { perform(asked) }
            return
        }
        guard question.isAsking, let asked else {
            return logger.debug("ignored an answer of the prompter; no question is pending")
        }
        switch reply {
        case "yes":
            guard let exchange else { return failOnGarbage() }
            receiveYes(to: asked, exchange)
        case "no": question.end(.cancelled)
        default: failOnGarbage()
        }
    }

    private func receiveYes(to asked: Asked, _ exchange: GCRExchangeMessage) {
        switch asked.request.question {
        case .password, .newPassword: question.answer(.password(exchange))
        case .confirmation: question.answer(.confirmed)
        case .waiting where !asked.request.fallbackLabel.isEmpty: question.answer(.fallback)
        case .waiting:
            uselessPressCount += 1
            guard uselessPressCount <= GCRDialog.uselessPressLimit else { return failOnGarbage() }
            perform(asked)
        }
    }

    private func failOnGarbage() {
        question.fail(PromptError(.failed, reason: "the prompter's answer violates its protocol"))
    }
}

import KeychaindDBus
import KeychaindGcrypt
import KeychaindLanguage
import Logging

/// A dialog of KDE's prompter, kept but hidden between questions.
@BusActor
final class KDEDialog: PromptDialog {
    static let questions: Set<PromptRequest.Question> = [.password, .newPassword]

    /// The number of tries to enter a new password twice.
    private static let repetitionLimit = 5

    private let channel: KDEChannel
    private let inspector: (any PrompterInspector)?
    private let callTimeout: Duration
    private let question: PendingQuestion<PasswordReader>
    /// Whether the dialog is on the screen, or hidden after an answer.
    private var isOpen = false
    /// Reads the password that the prompter has sent for the pending question.
    private var reader: PasswordReader?

    /// - Parameters:
    ///   - timeout: the time limit of a question.
    ///   - callTimeout: the time limit of a call to the prompter.
    init(
        _ channel: KDEChannel,
        inspector: (any PrompterInspector)?,
        timeout: Duration,
        callTimeout: Duration,
        logger: Logger
    ) {
        self.channel = channel
        self.inspector = inspector
        self.callTimeout = callTimeout
        question = PendingQuestion(timeout: timeout, logger: logger)
        question.onEnd = { [weak self, channel] in
            channel.stop()
            self?.reader?.stop()
        }
        channel.onEvent = { [weak self] in self?.receive($0) }
    }

    isolated deinit {
        close()
    }

    func canAsk(_ question: PromptRequest.Question) -> Bool {
        KDEDialog.questions.contains(question)
    }

    /// Asks for a password; throws ``PromptError/Code/failed`` for other questions.
    func ask(
        _ request: PromptRequest,
        whenShown: @escaping @BusActor () -> Void
    ) async throws(PromptError) -> PromptAnswer {
        switch request.question {
        case .password: return try await enter(request, reason: request.warning, whenShown)
        case .newPassword: return try await enterTwice(request, whenShown)
        case .confirmation, .waiting: throw PromptError(.failed, reason: "KDE's prompter can ask only for passwords")
        }
    }

    /// Shows another warning; all other texts are the prompter's.
    func revise(_ request: PromptRequest) -> Bool {
        guard question.isAsking, reader == nil, request.question == .password else { return false }
        channel.retry(request.warning)
        return true
    }

    /// The trust in the process that opened the dialog, not in a later owner of the name.
    func trust() async -> PrompterTrust {
        await inspector?.trust(inOwner: channel.peer, of: KDEPrompter.busName) ?? .trusted
    }

    func close() {
        question.end(.withdrawn)
    }

    // MARK: Asking

    /// Asks for a new password twice, since the prompter has only one field.
    private func enterTwice(
        _ request: PromptRequest,
        _ whenShown: @escaping @BusActor () -> Void
    ) async throws(PromptError) -> PromptAnswer {
        var reason = request.warning
        for _ in 0..<KDEDialog.repetitionLimit {
            switch try await enter(request, reason: reason, whenShown) {
            case .password(let first):
                switch try await enter(request, reason: request.string(Text("Enter the same password again.")), {}) {
                case .password(let second):
                    if first.isEqual(to: second) { return .password(first) }
                case let other:
                    return other
                }
            case let other:
                return other
            }
            reason = request.string(PinentryQuestion.mismatch)
        }
        let error = PromptError(.failed, reason: "the two entries of the new password never matched")
        question.fail(error)
        throw error
    }

    private func enter(
        _ request: PromptRequest,
        reason: String,
        _ whenShown: @escaping @BusActor () -> Void
    ) async throws(PromptError) -> PromptAnswer {
        switch await question.ask({ show(request, reason: reason, whenShown) }) {
        case .cancelled: return .cancelled
        case .withdrawn: return .withdrawn
        case .failed(let error): throw error
        case .answered(let reader):
            do throws(PromptError) {
                return .password(try reader.takePassword())
            } catch {
                question.fail(error)
                throw error
            }
        }
    }

    private func show(_ request: PromptRequest, reason: String, _ whenShown: @escaping @BusActor () -> Void) {
        guard !isOpen else {
            channel.retry(reason)
            return whenShown()
        }
        isOpen = true
        BusActor.start { [self] in
            do throws(BusError) {
                try await channel.begin(request, timeout: callTimeout)
                if question.isAsking, reader == nil { whenShown() }
            } catch {
                let code: PromptError.Code = error.name == .noReply ? .timedOut : .failed
                question.fail(PromptError(code, reason: "the prompter rejected the question: \(error)"))
            }
        }
    }

    // MARK: Events

    private func receive(_ event: KDEChannel.Event) {
        switch event {
        case .accepted(let descriptor): receiveAccepted(descriptor)
        case .rejected: question.end(.cancelled)
        case .dismissed: question.fail(PromptError(.interrupted, reason: "the prompter closed the dialog"))
        case .vanished: question.fail(PromptError(.crashed, reason: "the prompter left the bus"))
        }
    }

    private func receiveAccepted(_ descriptor: FileDescriptor) {
        // No question is pending.
        guard question.isAsking, reader == nil else { return }
        do throws(PromptError) {
            let reader = try PasswordReader(descriptor)
            self.reader = reader
            reader.start { [weak self] error in self?.receiveEnd(of: reader, error) }
        } catch {
            question.fail(error)
        }
    }

    private func receiveEnd(of reader: PasswordReader, _ error: PromptError?) {
        guard question.isAsking, self.reader === reader else { return }
        if let error { return question.fail(error) }
        self.reader = nil
        question.answer(reader)
    }
}

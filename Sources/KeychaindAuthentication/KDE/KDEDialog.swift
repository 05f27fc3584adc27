import KeychaindDBus
import KeychaindGcrypt
import KeychaindLanguage
import Logging

/// A dialog of KDE's prompter, kept but hidden between questions.
@BusActor
final class KDEDialog: PromptDialog {
    private enum State {
        case new
        case answered
        case asking(Asking)
        case reading(Asking, PasswordReader)
        /// The outcome of every further question.
        case ended(Outcome)
    }

    private struct Asking {
        let deadline: Timer
        let continuation: CheckedContinuation<Outcome, Never>
    }

    private enum Outcome: Sendable {
        case entered(PasswordReader)
        case cancelled
        case withdrawn
        case failed(PromptError)
    }

    static let questions: Set<PromptRequest.Question> = [.password, .newPassword]

    /// The number of tries to enter a new password twice.
    private static let repetitionLimit = 5

    private let channel: KDEChannel
    private let inspector: (any PrompterInspector)?
    private let timeout: Duration
    private let callTimeout: Duration
    private let logger: Logger
    private var state = State.new

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
        self.timeout = timeout
        self.callTimeout = callTimeout
        self.logger = logger
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
        guard case .asking = state, request.question == .password else { return false }
        channel.retry(request.warning)
        return true
    }

    /// The trust in the process that opened the dialog, not in a later owner of the name.
    func trust() async -> PrompterTrust {
        await inspector?.trust(inOwner: channel.peer, of: KDEPrompter.busName) ?? .trusted
    }

    func close() {
        end(.withdrawn)
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
        fail(error)
        throw error
    }

    private func enter(
        _ request: PromptRequest,
        reason: String,
        _ whenShown: @escaping @BusActor () -> Void
    ) async throws(PromptError) -> PromptAnswer {
        let outcome = await withCheckedContinuation { continuation in
            start(request, reason: reason, whenShown, continuation)
        }
        switch outcome {
        case .cancelled: return .cancelled
        case .withdrawn: return .withdrawn
        case .failed(let error): throw error
        case .entered(let reader):
            do throws(PromptError) {
                return .password(try reader.takePassword())
            } catch {
                fail(error)
                throw error
            }
        }
    }

    private func start(
        _ request: PromptRequest,
        reason: String,
        _ whenShown: @escaping @BusActor () -> Void,
        _ continuation: CheckedContinuation<Outcome, Never>
    ) {
        let isFirst: Bool
        switch state {
        case .new: isFirst = true
        case .answered: isFirst = false
        case .asking, .reading:
            let error = PromptError(.failed, reason: "the dialog is already asking a question")
            return continuation.resume(returning: .failed(error))
        case .ended(let outcome):
            return continuation.resume(returning: outcome)
        }
        let deadline = BusActor.loop.schedule(after: timeout) { [weak self] in
            self?.fail(PromptError(.timedOut, reason: "nobody answered in time"))
        }
        state = .asking(Asking(deadline: deadline, continuation: continuation))
        guard isFirst else {
            channel.retry(reason)
            return whenShown()
        }
        BusActor.start { [self] in
            do throws(BusError) {
                try await channel.begin(request, timeout: callTimeout)
                if case .asking = state { whenShown() }
            } catch {
                let code: PromptError.Code = error.name == .noReply ? .timedOut : .failed
                fail(PromptError(code, reason: "the prompter rejected the question: \(error)"))
            }
        }
    }

    // MARK: Events

    private func receive(_ event: KDEChannel.Event) {
        switch event {
        case .accepted(let descriptor): receiveAccepted(descriptor)
        case .rejected: end(.cancelled)
        case .dismissed: fail(PromptError(.interrupted, reason: "the prompter closed the dialog"))
        case .vanished: fail(PromptError(.crashed, reason: "the prompter left the bus"))
        }
    }

    private func receiveAccepted(_ descriptor: FileDescriptor) {
        // No question is pending.
        guard case .asking(let asking) = state else { return }
        do throws(PromptError) {
            let reader = try PasswordReader(descriptor)
            state = .reading(asking, reader)
            reader.start { [weak self] error in self?.receiveEnd(of: reader, error) }
        } catch {
            fail(error)
        }
    }

    private func receiveEnd(of reader: PasswordReader, _ error: PromptError?) {
        guard case .reading(let asking, let current) = state, current === reader else { return }
        if let error { return fail(error) }
        state = .answered
        BusActor.loop.cancel(asking.deadline)
        asking.continuation.resume(returning: .entered(reader))
    }

    // MARK: Ending

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
        case .new, .answered, .ended:
            break
        case .asking(let asking):
            resume(asking, with: outcome)
        case .reading(let asking, let reader):
            reader.stop()
            resume(asking, with: outcome)
        }
    }

    private func resume(_ asking: Asking, with outcome: Outcome) {
        BusActor.loop.cancel(asking.deadline)
        asking.continuation.resume(returning: outcome)
    }
}

import KeychaindDBus
import KeychaindGcrypt
import KeychaindModel

/// Asks the questions of an evaluation, and verifies the typed passwords.
@BusActor
final class QuestionSession {
    private enum State {
        case idle
        case asking(EvaluationQuestion, isShown: Bool)
        case verifying
        /// The question was withdrawn but has not ended; its answer is dropped.
        case closing
        case closed
    }

    private let conversation: Conversation
    private let words: EvaluationWords
    private let passcode: any PasswordVerifier
    private let applicationPassword: (any PasswordVerifier)?
    private let lockout: PasswordLockout
    private let events: EventQueue<EvaluationEvent>
    private var state = State.idle
    /// Whether the person took the offer in the dialog, with the right password.
    private(set) var hasChosen = false

    init(
        in conversation: Conversation,
        _ words: EvaluationWords,
        passcode: any PasswordVerifier,
        applicationPassword: (any PasswordVerifier)?,
        lockout: PasswordLockout,
        events: EventQueue<EvaluationEvent>
    ) {
        self.conversation = conversation
        self.words = words
        self.passcode = passcode
        self.applicationPassword = applicationPassword
        self.lockout = lockout
        self.events = events
    }

    var isVerifying: Bool {
        if case .verifying = state { true } else { false }
    }

    var isClosing: Bool {
        if case .closing = state { true } else { false }
    }

    var isShown: Bool {
        if case .asking(_, isShown: true) = state { true } else { false }
    }

    /// Asks a question, or revises the waiting one.
    func show(_ question: EvaluationQuestion) {
        switch state {
        case .verifying, .closing, .closed, .asking(question, _):
            break
        case .asking(_, let isShown):
            state = .asking(question, isShown: isShown)
            // A new dialog counts as shown once the prompter has taken the question again.
            let isKept = conversation.revise(
                words.request(for: question),
                keepingDialog: question.isAdvice && !question.passwords.isEmpty
            )
            if !isKept { state = .asking(question, isShown: false) }
        case .idle:
            state = .asking(question, isShown: false)
            BusActor.start { [self] in await ask(question) }
        }
    }

    /// Withdraws the waiting question, and asks no more.
    func close() {
        switch state {
        case .idle, .verifying:
            state = .closed
        case .asking:
            state = .closing
            conversation.withdraw()
        case .closing, .closed:
            break
        }
    }

    private func ask(_ question: EvaluationQuestion) async {
        do throws(PromptError) {
            let answer = try await conversation.ask(words.request(for: question)) { [self] in receiveShown() }
            await receive(answer)
        } catch {
            guard finish() != nil else { return }
            events.post(
                error.code == .notTrusted
                    ? .untrusted(reason: error.reason) : .answered(AuthenticationError(error))
            )
        }
    }

    private func receiveShown() {
        guard case .asking(let question, isShown: false) = state else { return }
        state = .asking(question, isShown: true)
        events.post(.shown)
    }

    /// Ends the question and returns its latest form; nil if it was withdrawn and its answer does not count.
    private func finish() -> EvaluationQuestion? {
        guard case .asking(let question, _) = state else {
            state = .closed
            events.post(.withdrawn)
            return nil
        }
        state = .idle
        return question
    }

    private func receive(_ answer: consuming PromptAnswer) async {
        guard let question = finish() else { return }
        switch consume answer {
        case .password(let password):
            state = .verifying
            let isChosen = conversation.hasChosen
            let (result, factor) = await attempt(password, as: question.passwords)
            if isChosen, result == .right { hasChosen = true }
            if isVerifying { state = .idle }
            events.post(.typed(result, proving: factor))
        case .fallback:
            events.post(.answered(AuthenticationError(.userFallback, reason: "the person has chosen the fallback")))
        case .cancelled:
            events.post(.answered(AuthenticationError(.userCancel, reason: "the person has cancelled")))
        case .withdrawn:
            events.post(.withdrawn)
        case .confirmed:
            let reason = "the prompter has answered a question that was not asked"
            events.post(.answered(AuthenticationError(.systemCancel, reason: reason)))
        }
    }

    /// Verifies a password as each of its possible factors.
    ///
    /// The application password comes first, so that it does not count as a wrong passcode. During its lockout, a
    /// passcode is still tried.
    private func attempt(
        _ password: consuming SecureBytes,
        as factors: FactorSet
    ) async -> (result: PasswordResult, factor: Factor) {
        guard factors.contains(.applicationPassword), let applicationPassword else {
            guard factors.contains(.passcode) else {
                return (.failed(reason: "the question did not ask for a password"), .passcode)
            }
            return (await attempt(password, on: passcode), .passcode)
        }
        guard factors.contains(.passcode) else {
            return (await attempt(password, on: applicationPassword), .applicationPassword)
        }
        let copy: SecureBytes
        do throws(GcryptError) {
            copy = try password.copy(in: .locked)
        } catch {
            return (.failed(reason: "\(error)"), .passcode)
        }
        let result = await attempt(copy, on: applicationPassword)
        switch result {
        case .right, .notNeeded, .failed: return (result, .applicationPassword)
        case .wrong, .tooEarly, .notCounted: break
        }
        let passcodeResult = await attempt(password, on: passcode)
        // A right passcode is no failed attempt at the application password.
        if passcodeResult == .right { await applicationPassword.lockout?.passcodeWasRight() }
        return (passcodeResult, .passcode)
    }

    private func attempt(_ password: consuming SecureBytes, on verifier: any PasswordVerifier) async -> PasswordResult {
        guard let ownLockout = verifier.lockout else {
            return await lockout.attempt(
                password,
                on: verifier,
                from: PasswordLockout.Source(conversation.trustOfAnswer)
            )
        }
        return await ownLockout.attempt(password, on: verifier)
    }
}

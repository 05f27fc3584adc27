package import KeychaindDBus
import KeychaindModel

/// One evaluation of a policy.
///
/// All inputs are events in one queue with one consumer. After each event the ``Verdict`` ends the evaluation or
/// directs the reader and the dialog. So an evaluation ends once, and a refusal wins over a simultaneous proof.
@BusActor
package final class Evaluation {
    private enum Turn {
        case none, waiting, given
    }

    private let request: EvaluationRequest
    private let passcode: any PasswordVerifier
    private let conversation: Conversation
    private let evaluator: Evaluator
    private let events = EventQueue<EvaluationEvent>()
    private let reader: ReaderSession
    private let question: QuestionSession

    private let end = Promise<EvaluationOutcome>()
    private var progress: EvaluationProgress
    private var turn = Turn.none
    private var silence: Scheduler.Cancellation?
    /// The lockout of the reader that the dialog has shown.
    package private(set) var shownLockout: AuthenticationError?

    init(
        _ request: EvaluationRequest,
        passcode: any PasswordVerifier,
        applicationPassword: (any PasswordVerifier)?,
        asking conversation: Conversation,
        _ words: EvaluationWords,
        evaluator: Evaluator
    ) {
        self.request = request
        self.passcode = passcode
        self.conversation = conversation
        self.evaluator = evaluator
        progress = EvaluationProgress(maximumPasswords: evaluator.limits.passwords)
        reader = ReaderSession(evaluator.biometry, events: events)
        question = QuestionSession(
            in: conversation,
            words,
            passcode: passcode,
            applicationPassword: applicationPassword,
            lockout: evaluator.passwordLockout,
            events: events
        )
    }

    /// Whether the person took the offer in the dialog, with the right password.
    package var hasChosen: Bool { question.hasChosen }

    package func outcome() async -> EvaluationOutcome { await end.value() }

    func run() async {
        conversation.whenCancelled { [events] in events.post(.cancelled(AuthenticationError($0))) }
        let outcome = await pursue()
        conversation.whenCancelled(nil)
        silence?()
        silence = nil
        reader.stop()
        // The conversation is free for the next question once this one is off the screen.
        question.close()
        while question.isClosing {
            await events.wait()
            _ = events.takeFirst()
        }
        end.fulfill(outcome)
    }

    private func pursue() async -> EvaluationOutcome {
        await look()
        while true {
            while let event = events.takeFirst() { await handle(event) }
            if let failure = progress.failure {
                return .failed(failure.code == .userCancel ? shownLockout ?? failure : failure)
            }
            // A password being verified may still yield its key, or count as a failure.
            if !question.isVerifying {
                switch verdict() {
                case .granted: return .satisfied(progress.proofs)
                case .denied(let error):
                    guard canFreeReader(after: error) else { return .failed(error) }
                    showLockout(error)
                case .mustAuthenticate(let plan): act(on: plan)
                }
            }
            await events.wait()
        }
    }

    private func verdict() -> Verdict {
        let state = AuthenticationState(
            biometry: progress.biometry,
            isBiometryLocked: evaluator.lockout.isBiometryLocked,
            isPasscodeSet: passcode.isSet,
            prompterTrust: progress.prompterTrust,
            isSessionLocked: evaluator.isSessionLocked(),
            isInteractionAllowed: request.isInteractionAllowed
        )
        let proved = request.proved.union(progress.proofs.counting(for: request.requirement))
        return Verdict(on: request.requirement, proved: proved, in: state)
    }

    /// Updates the available factors, which may change during the wait for the turn.
    private func look() async {
        await evaluator.lockout.load()
        progress.biometry = await evaluator.availability(for: request.requirement)
        progress.receive(evaluator.biometry.firstHint)
        progress.receive(await conversation.expectedTrust())
    }

    // MARK: Acting

    private func act(on plan: ProofPlan) {
        switch turn {
        case .none:
            turn = .waiting
            BusActor.start { [self] in events.post(.turn(await begin())) }
        case .waiting:
            break
        case .given:
            show(plan)
        }
    }

    /// Waits for the turn; nil once it has come.
    private func begin() async -> AuthenticationError? {
        do throws(PromptError) {
            if try await conversation.begin() { return nil }
            return AuthenticationError(conversation.cancellation ?? .byProgram)
        } catch {
            return AuthenticationError(error)
        }
    }

    private func show(_ plan: ProofPlan) {
        question.show(
            EvaluationQuestion(
                passwords: plan.typedNext,
                reader: plan.wantsTouch ? progress.hint : nil,
                readerSuffices: plan.touchSuffices || !plan.wantsTouch,
                warning: progress.warning,
                delay: progress.delay,
                touch: plan.wantsTouch || progress.touch == .recognised ? progress.touch : PromptRequest.Touch.none,
                isAdvice: progress.isAdvice
            )
        )
        if !plan.wantsTouch {
            reader.stop()
        } else if question.isShown {
            reader.start()
        }
    }

    /// Whether the lockout has come about in an open dialog, and the passcode would end it.
    private func canFreeReader(after error: AuthenticationError) -> Bool {
        guard request.freesReader, error.code == .biometryLockout, passcode.isSet else { return false }
        return question.isShown || shownLockout != nil
    }

    /// Says in the dialog that the reader is locked, and asks for the passcode; then touches count again.
    private func showLockout(_ error: AuthenticationError) {
        shownLockout = error
        reader.stop()
        question.show(
            EvaluationQuestion(
                passwords: .passcode,
                reader: nil,
                warning: progress.warning,
                delay: progress.delay,
                touch: .locked
            )
        )
    }

    // MARK: Events

    private func handle(_ event: EvaluationEvent) async {
        restartSilence()
        switch event {
        case .turn(let failure):
            turn = .given
            if let failure { return progress.fail(failure) }
            await look()
        case .shown:
            break
        case .hint(let hint, let match):
            if reader.isCurrent(match) { progress.receive(hint) }
        case .touched(let outcome, let match):
            if reader.finish(match) { await handle(outcome) }
        case .typed(let result, let factor):
            progress.receive(result, proving: factor)
        case .answered(let error):
            progress.fail(error)
        case .untrusted(let reason):
            progress.receive(PrompterTrust.passwordsOnly(reason: reason))
        case .withdrawn:
            progress.fail(AuthenticationError(.appCancel, reason: "the program has cancelled"))
        case .cancelled(let error):
            progress.fail(error)
        }
    }

    private func handle(_ outcome: BiometryOutcome) async {
        switch outcome {
        case .matched:
            guard await isSeen() else { return }
            await evaluator.lockout.touchMatched()
            progress.touchMatched(await evaluator.availability(for: request.requirement))
        case .notMatched:
            await evaluator.lockout.touchFailed()
            progress.touchFailed(isBiometryLocked: evaluator.lockout.isBiometryLocked)
        case .failed(let error):
            progress.readerFailed(error)
        }
    }

    /// Whether the person can know the purpose of a touch, from a trusted dialog that is shown or being verified.
    private func isSeen() async -> Bool {
        guard question.isShown || question.isVerifying else { return false }
        if let objection = await conversation.trust().objection {
            progress.receive(PrompterTrust.passwordsOnly(reason: objection))
            return false
        }
        guard conversation.isActive else {
            progress.touchUnseen()
            return false
        }
        return true
    }

    private func restartSilence() {
        silence?()
        silence = evaluator.scheduler.schedule(after: evaluator.limits.silence) { [events] in
            events.post(.cancelled(AuthenticationError(.systemCancel, reason: "no answer and no touch came in time")))
        }
    }
}

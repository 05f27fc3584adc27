import DBus
import Gcrypt
import KeychainModel

/// The dialog's part of an evaluation: one question after the other, and the trial of what is typed.
@BusActor
final class QuestionSession {
    private enum State {
        case idle
        case asking(EvaluationQuestion, isShown: Bool)
        /// What was typed is being tried.
        case verifying
        /// The question was taken back, and has not ended yet; whatever it is answered is dropped.
        case closing
        case closed
    }

    private let dialog: any EvaluationDialog
    private let passcode: any Passcode
    private let applicationPassword: (any Passcode)?
    private let lockout: LockoutKeeper
    private let untrustedLockout: LockoutKeeper
    private let events: EventQueue<EvaluationEvent>
    private var state = State.idle

    init(
        in dialog: any EvaluationDialog,
        passcode: any Passcode,
        applicationPassword: (any Passcode)?,
        lockout: LockoutKeeper,
        untrustedLockout: LockoutKeeper,
        events: EventQueue<EvaluationEvent>
    ) {
        self.dialog = dialog
        self.passcode = passcode
        self.applicationPassword = applicationPassword
        self.lockout = lockout
        self.untrustedLockout = untrustedLockout
        self.events = events
    }

    /// Whether what was typed is being tried.
    var isVerifying: Bool {
        if case .verifying = state { true } else { false }
    }

    /// Whether the last question has yet to end.
    var isClosing: Bool {
        if case .closing = state { true } else { false }
    }

    /// Whether a question is on the screen, as far as the prompter tells.
    var isShown: Bool {
        if case .asking(_, isShown: true) = state { true } else { false }
    }

    /// Sees that the question is asked: anew, or instead of another one that waits.
    func show(_ question: EvaluationQuestion) {
        switch state {
        case .verifying, .closing, .closed, .asking(question, _):
            break
        case .asking(_, let isShown):
            state = .asking(question, isShown: isShown)
            // Another dialog is not on the screen before the prompter has taken the question again.
            if !dialog.revise(question) { state = .asking(question, isShown: false) }
        case .idle:
            state = .asking(question, isShown: false)
            BusActor.start { [self] in await ask(question) }
        }
    }

    /// Takes the question that waits back, if one does; no further one is asked.
    func close() {
        switch state {
        case .idle, .verifying:
            state = .closed
        case .asking:
            state = .closing
            dialog.withdraw()
        case .closing, .closed:
            break
        }
    }

    private func ask(_ question: EvaluationQuestion) async {
        let answer = await dialog.ask(question) { [self] in
            guard case .asking(let question, isShown: false) = state else { return }
            state = .asking(question, isShown: true)
            events.post(.shown)
        }
        guard case .asking(let question, _) = state else {
            state = .closed
            return events.post(.withdrawn)
        }
        state = .idle
        switch consume answer {
        case .password(let password):
            state = .verifying
            let outcome = await attempt(password, as: question.passwords)
            if isVerifying { state = .idle }
            events.post(.typed(outcome))
        case .fallback:
            events.post(.answered(AuthenticationError(.userFallback, reason: "another way was chosen")))
        case .cancelled:
            events.post(.answered(AuthenticationError(.userCancel, reason: "the person has cancelled")))
        case .withdrawn:
            events.post(.withdrawn)
        case .untrusted(let reason):
            events.post(.untrusted(reason: reason))
        case .failed(let error):
            events.post(.answered(error))
        }
    }

    /// Tries a password as each of the factors that it may be.
    ///
    /// The item's own password comes first, so that it does not count as a wrong passcode. While none of these is tried, a passcode
    /// still is.
    private func attempt(_ password: consuming SecureBytes, as factors: FactorSet) async -> TypedOutcome {
        guard factors.contains(.applicationPassword), let applicationPassword else {
            guard factors.contains(.passcode) else { return .failed(reason: "there is nothing to try a password on") }
            return await attempt(password, on: passcode, proving: .passcode)
        }
        guard factors.contains(.passcode) else {
            return await attempt(password, on: applicationPassword, proving: .applicationPassword)
        }
        let copy: SecureBytes
        do throws(GcryptError) {
            copy = try password.copy(in: .locked)
        } catch {
            return .failed(reason: "\(error)")
        }
        let outcome = await attempt(copy, on: applicationPassword, proving: .applicationPassword)
        switch outcome {
        case .proved, .failed: return outcome
        case .wrong, .tooEarly: break
        }
        let proof = await attempt(password, on: passcode, proving: .passcode)
        // What was a passcode was no attempt at the item's own password.
        if case .proved = proof { await applicationPassword.lockout?.passcodeWasRight() }
        return proof
    }

    private func attempt(
        _ password: consuming SecureBytes,
        on verifier: any Passcode,
        proving factor: Factor
    ) async -> TypedOutcome {
        let keeper = verifier.lockout ?? (dialog.trustOfAnswer == .trusted ? lockout : untrustedLockout)
        switch await keeper.attempt(password, on: verifier) {
        case .right:
            // Wherever the passcode is given, the right one ends what wrong ones have led to.
            if keeper === untrustedLockout { await lockout.passcodeWasRight() }
            return .proved(factor)
        case .wrong: return .wrong(wait: await keeper.passcodeDelay())
        case .tooEarly(let delay): return .tooEarly(delay)
        case .failed(let reason): return .failed(reason: reason)
        }
    }
}

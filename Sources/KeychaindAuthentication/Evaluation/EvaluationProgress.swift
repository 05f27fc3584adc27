import KeychaindLanguage
import KeychaindModel

/// The state of an evaluation.
struct EvaluationProgress: Hashable {
    private(set) var proofs = Proofs.none
    private(set) var failure: AuthenticationError?

    private(set) var warning = Text.empty {
        didSet { (isAdvice, delay) = (false, .zero) }
    }

    /// The time before another password is accepted.
    private(set) var delay = Duration.zero

    /// What became of the last touch.
    private(set) var touch = PromptRequest.Touch.waiting

    /// Whether the warning only advises how to hold the finger.
    private(set) var isAdvice = false

    /// The action that the reader asks for.
    private(set) var hint = BiometryHint.touch

    var biometry = BiometryAvailability.notAvailable(reason: "the reader has not been asked yet")

    /// The trust in the dialogs; nil if no dialog can be shown.
    private(set) var prompterTrust: PrompterTrust?

    private var passwordsLeft: Int

    init(maximumPasswords: Int) {
        passwordsLeft = maximumPasswords
    }

    /// Records a failure; the first one counts.
    mutating func fail(_ error: AuthenticationError) {
        failure = failure ?? error
    }

    /// Records the trust in the dialogs; once lost, it does not return.
    mutating func receive(_ trust: PrompterTrust?) {
        if prompterTrust?.objection == nil || trust == nil { prompterTrust = trust }
    }

    mutating func receive(_ hint: BiometryHint) {
        switch hint {
        case .touch, .swipe: self.hint = hint
        case .retry, .swipeTooShort, .notCentered, .removeAndRetry:
            warning = hint.text
            isAdvice = true
            touch = .waiting
        }
    }

    /// Records a match.
    ///
    /// - Parameter biometry: the availability after the match. If the enrolled set changed, the matched one is unknown.
    mutating func touchMatched(_ biometry: BiometryAvailability) {
        let isSameSet = self.biometry.set != nil && self.biometry.set == biometry.set
        proofs = Proofs(
            factors: proofs.factors.union(.biometryAny),
            keys: proofs.keys,
            matchedSet: isSameSet ? biometry.set : nil
        )
        self.biometry = biometry
        warning = .empty
        touch = .recognised
    }

    /// Records a match while the person may have looked elsewhere.
    mutating func touchUnseen() {
        warning = Text("Click on this dialog, then use the fingerprint reader again.")
        touch = .waiting
    }

    mutating func touchFailed(isBiometryLocked: Bool) {
        touch = isBiometryLocked ? .locked : .unrecognised
        warning =
            isBiometryLocked
            ? Text(
                "Too many touches did not match. The fingerprint reader is locked until the right password is given."
            )
            : Text("That finger was not recognised. Try again.")
    }

    /// Records a failed match; the reader is not used again.
    mutating func readerFailed(_ error: AuthenticationError) {
        switch error.code {
        case .biometryDisconnected:
            biometry = .disconnected
            warning = Text("The fingerprint reader is gone.")
        case .biometryNotEnrolled:
            biometry = .notEnrolled
            warning = Text("There is no longer an enrolled finger.")
        case .authenticationFailed, .userCancel, .userFallback, .systemCancel, .passcodeNotSet, .biometryNotAvailable,
            .biometryLockout, .appCancel, .invalidContext, .biometryNotPaired, .notInteractive:
            biometry = .failed(error)
            warning = Text("The fingerprint reader cannot be used.")
        }
    }

    mutating func receive(_ result: PasswordResult, proving factor: Factor) {
        switch result {
        case .right:
            let factor = FactorSet(factor)
            proofs = Proofs(
                factors: proofs.factors.union(factor),
                keys: proofs.keys.union(factor),
                matchedSet: proofs.matchedSet
            )
            warning = .empty
        case .wrong, .tooEarly, .notCounted, .notNeeded:
            warning = result.warning ?? .empty
            delay = result.delay
            countPassword()
        case .failed(let reason):
            fail(AuthenticationError(.systemCancel, reason: "the password could not be tried: \(reason)"))
        }
    }

    private mutating func countPassword() {
        passwordsLeft -= 1
        if passwordsLeft <= 0 {
            fail(AuthenticationError(.authenticationFailed, reason: "too many passwords were wrong"))
        }
    }
}

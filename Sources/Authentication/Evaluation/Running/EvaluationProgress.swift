import KeychainModel

/// How far an evaluation has come: what was proved, what went wrong, and what is known of the means.
struct EvaluationProgress: Hashable {
    /// What was proved in this evaluation.
    private(set) var proofs = Proofs.none

    /// Why it is over, if it is.
    private(set) var failure: AuthenticationError?

    /// What went wrong last, in words for the person.
    private(set) var warning = "" {
        didSet { isAdvice = false }
    }

    /// Whether the warning only says how to hold the finger.
    private(set) var isAdvice = false

    /// What to do at the reader.
    private(set) var hint = BiometryHint.touch

    /// What the reader can do, as far as is known.
    var biometry = BiometryAvailability.notAvailable(reason: "the reader was not asked yet")

    /// How far the dialogs of this evaluation are trusted, as far as is known; trust that is lost does not come back.
    var prompterTrust = PrompterTrust.trusted

    /// Whether dialogs can be shown.
    var hasPrompter = false

    /// Whether the system's dialog is to be used, and can be.
    var hasSystemDialog = false

    private var passwordsLeft: Int

    init(maximumPasswords: Int) {
        passwordsLeft = maximumPasswords
    }

    /// Ends it, unless it is over; the first reason counts.
    mutating func fail(_ error: AuthenticationError) {
        failure = failure ?? error
    }

    /// Takes note of what the reader wants of the person.
    mutating func receive(_ hint: BiometryHint) {
        switch hint {
        case .touch, .swipe: self.hint = hint
        case .retry, .swipeTooShort, .notCentered, .removeAndRetry:
            warning = hint.text
            isAdvice = true
        }
    }

    /// Takes note of a finger that matched.
    ///
    /// - Parameter biometry: what the reader can do after the match. If the set is another one than before, nobody knows with which of
    ///   them the finger was compared.
    mutating func touchMatched(_ biometry: BiometryAvailability) {
        let isSameSet = self.biometry.set != nil && self.biometry.set == biometry.set
        proofs = Proofs(
            factors: proofs.factors.union(.biometryAny),
            keys: proofs.keys,
            matchedSet: isSameSet ? biometry.set : nil
        )
        self.biometry = biometry
        warning = ""
    }

    /// Takes note of a finger that did not match.
    mutating func touchFailed(isBiometryLocked: Bool) {
        warning =
            isBiometryLocked
            ? "Too many touches did not match. The fingerprint reader is locked until the right password is given."
            : "That finger was not recognised. Try again."
    }

    /// Takes note of a match that came to nothing: the reader is not used any further.
    mutating func readerFailed(_ error: AuthenticationError) {
        switch error.code {
        case .biometryDisconnected:
            biometry = .disconnected
            warning = "The fingerprint reader is gone."
        case .biometryNotEnrolled:
            biometry = .notEnrolled
            warning = "There is no longer an enrolled finger."
        case .authenticationFailed, .userCancel, .userFallback, .systemCancel, .passcodeNotSet, .biometryNotAvailable,
            .biometryLockout, .appCancel, .invalidContext, .biometryNotPaired, .notInteractive:
            biometry = .failed(error)
            warning = "The fingerprint reader cannot be used."
        }
    }

    /// Records the result of a typed password.
    mutating func receive(_ result: PasswordResult, proving factor: Factor) {
        switch result {
        case .right:
            let factor = FactorSet(factor)
            proofs = Proofs(
                factors: proofs.factors.union(factor),
                keys: proofs.keys.union(factor),
                matchedSet: proofs.matchedSet
            )
            warning = ""
        case .wrong, .tooEarly:
            warning = result.warning ?? ""
            countPassword()
        case .failed(let reason):
            fail(AuthenticationError(.systemCancel, reason: "the password could not be tried: \(reason)"))
        }
    }

    /// Takes note that the system's dialog was satisfied.
    ///
    /// It does not tell by what, and there is no key: as a proof for later it is worth what a passcode without a key is.
    mutating func presenceProved() {
        proofs = Proofs(
            factors: proofs.factors.union(.passcode),
            keys: proofs.keys,
            matchedSet: proofs.matchedSet
        )
    }

    private mutating func countPassword() {
        passwordsLeft -= 1
        if passwordsLeft <= 0 {
            fail(AuthenticationError(.authenticationFailed, reason: "too many passwords were wrong"))
        }
    }
}

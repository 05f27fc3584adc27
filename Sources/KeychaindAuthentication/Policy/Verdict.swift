package import KeychaindModel

/// Whether and how a requirement can be met: a pure function of requirement, proofs and state.
///
/// For grants, see ``Release``.
package enum Verdict: Hashable, Sendable {
    case granted
    case mustAuthenticate(ProofPlan)

    /// The requirement is not met, and asking a person would not help.
    case denied(AuthenticationError)

    /// Decides.
    ///
    /// A missing factor is reported before a forbidden question, as "no finger is enrolled" helps more than "not
    /// interactive".
    ///
    /// - Parameter proved: the factors already proved, such as by a context.
    package init(on requirement: Requirement, proved: FactorSet = [], in state: AuthenticationState) {
        // A dialog would be behind the locked screen, and earlier proofs no longer hold.
        if state.isSessionLocked, requirement.policy != nil {
            self = .denied(AuthenticationError(.notInteractive, reason: "the session is locked"))
            return
        }
        guard let open = requirement.policy?.remaining(after: proved) else {
            self = .granted
            return
        }
        let plan: ProofPlan
        do throws(AuthenticationError) {
            plan = try Verdict.plan(for: open.alternatives, requirement: requirement, in: state)
        } catch {
            self = .denied(error)
            return
        }
        guard state.isInteractionAllowed else {
            self = .denied(
                AuthenticationError(.notInteractive, reason: "the program forbids questions to a person")
            )
            return
        }
        self = .mustAuthenticate(plan)
    }

    private static func plan(
        for alternatives: [FactorSet],
        requirement: Requirement,
        in state: AuthenticationState
    ) throws(AuthenticationError) -> ProofPlan {
        var possible: [FactorSet] = []
        var obstacles: [AuthenticationError] = []
        for alternative in alternatives {
            if let obstacle = obstacle(to: alternative, boundSet: requirement.boundSet, in: state) {
                obstacles.append(obstacle)
            } else {
                possible.append(alternative)
            }
        }
        guard !possible.isEmpty else {
            // The passcode is the last resort, so its absence is the reported obstacle.
            let last = obstacles.first { $0.code == .passcodeNotSet } ?? obstacles.first
            throw last ?? AuthenticationError(.authenticationFailed, reason: "no available factor satisfies the policy")
        }
        guard state.prompterTrust != nil else {
            throw AuthenticationError(.notInteractive, reason: "no prompter is available; install one, such as gcr")
        }
        return ProofPlan(possible)
    }

    private static func obstacle(
        to alternative: FactorSet,
        boundSet: BiometrySet?,
        in state: AuthenticationState
    ) -> AuthenticationError? {
        if !alternative.isDisjoint(with: .biometry) {
            if let error = state.biometry.error { return error }
            if let objection = state.prompterTrust?.objection {
                return AuthenticationError(
                    .notInteractive,
                    reason: "a touch does not count, as the dialog may be hidden: \(objection)",
                    cause: .prompterNotTrusted
                )
            }
            if state.isBiometryLocked {
                return AuthenticationError(
                    .biometryLockout,
                    reason: "too many touches did not match; give the passcode first"
                )
            }
            if alternative.contains(.biometryCurrentSet), boundSet == nil || boundSet != state.biometry.set {
                let reason = "the enrolled fingers have changed since the item was stored"
                return AuthenticationError(.authenticationFailed, reason: reason)
            }
        }
        if alternative.contains(.passcode), !state.isPasscodeSet {
            return AuthenticationError(.passcodeNotSet, reason: "no passcode is set")
        }
        return nil
    }
}

/// The state that a verdict depends on, besides the requirement and its proofs.
package struct AuthenticationState: Hashable, Sendable {
    package var biometry: BiometryAvailability
    package var isBiometryLocked: Bool
    package var isPasscodeSet: Bool
    /// The trust in the dialogs; nil if no dialog can be shown.
    package var prompterTrust: PrompterTrust?

    package var isSessionLocked: Bool

    /// Whether the caller allows questions to a person.
    package var isInteractionAllowed: Bool

    package init(
        biometry: BiometryAvailability,
        isBiometryLocked: Bool = false,
        isPasscodeSet: Bool,
        prompterTrust: PrompterTrust? = .trusted,
        isSessionLocked: Bool = false,
        isInteractionAllowed: Bool = true
    ) {
        self.biometry = biometry
        self.isBiometryLocked = isBiometryLocked
        self.isPasscodeSet = isPasscodeSet
        self.prompterTrust = prompterTrust
        self.isSessionLocked = isSessionLocked
        self.isInteractionAllowed = isInteractionAllowed
    }
}

package import KeychainModel

/// Whether a requirement is met, and how it can be: a pure function of what is asked for, what is proved, and how
/// things are.
///
/// Who has a grant for an item is not asked; see ``Release``.
package enum Verdict: Hashable, Sendable {
    /// It is met.
    case granted

    /// Not before a person has proved something.
    case mustAuthenticate(Plan)

    /// It is not met, and asking a person now would not help.
    case denied(AuthenticationError)

    /// Decides.
    ///
    /// What no person can provide at the moment comes before whether one may be asked: with a program that must not
    /// ask, "no finger is enrolled" says more than "not interactive".
    ///
    /// - Parameter proved: what counts as proved already, such as by a context.
    package init(on requirement: Requirement, proved: FactorSet = [], in state: AuthenticationState) {
        // Behind a locked screen nobody sees who asks; and what was proved before the lock holds no longer.
        if state.isSessionLocked, requirement.policy != nil {
            self = .denied(AuthenticationError(.notInteractive, reason: "the session is locked"))
            return
        }
        guard let open = requirement.policy?.remaining(after: proved) else {
            self = .granted
            return
        }
        let plan: Plan
        do throws(AuthenticationError) {
            plan = try Verdict.plan(for: open.alternatives, requirement: requirement, in: state)
        } catch {
            self = .denied(error)
            return
        }
        guard state.isInteractionAllowed else {
            self = .denied(
                AuthenticationError(.notInteractive, reason: "the program does not allow that anybody is asked")
            )
            return
        }
        self = .mustAuthenticate(plan)
    }

    private static func plan(
        for alternatives: [FactorSet],
        requirement: Requirement,
        in state: AuthenticationState
    ) throws(AuthenticationError) -> Plan {
        // The system's dialog may take a finger, so it is of no use while fingers are locked.
        let acceptsPresence = alternatives.contains(.biometryAny) && alternatives.contains(.passcode)
        if acceptsPresence, state.hasSystemDialog, !state.isBiometryLocked { return .systemDialog }

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
            // The passcode is the last resort, so its absence is what ends the hope, where it was one.
            let last = obstacles.first { $0.code == .passcodeNotSet } ?? obstacles.first
            throw last ?? AuthenticationError(.authenticationFailed, reason: "there is no way to satisfy the policy")
        }
        guard state.hasPrompter else {
            throw AuthenticationError(.notInteractive, reason: "no prompter is there to ask with")
        }
        return .dialog(possible)
    }

    private static func obstacle(
        to alternative: FactorSet,
        boundSet: BiometrySet?,
        in state: AuthenticationState
    ) -> AuthenticationError? {
        if !alternative.isDisjoint(with: .biometry) {
            if let error = state.biometry.error { return error }
            if let objection = state.prompterTrust.objection {
                return AuthenticationError(
                    .notInteractive,
                    reason: "a touch does not count, as nobody may see the dialog: \(objection)",
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
                let reason = "the enrolled fingers are no longer those that the item was stored with"
                return AuthenticationError(.authenticationFailed, reason: reason)
            }
        }
        if alternative.contains(.passcode), !state.isPasscodeSet {
            return AuthenticationError(.passcodeNotSet, reason: "no passcode is set")
        }
        return nil
    }
}

/// The facts that a decision depends on, at its moment.
package struct AuthenticationState: Hashable, Sendable {
    /// What the reader can do.
    package var biometry: BiometryAvailability

    /// Whether too many touches did not match.
    package var isBiometryLocked: Bool

    /// Whether there is a passcode.
    package var isPasscodeSet: Bool

    /// Whether dialogs can be shown.
    package var hasPrompter: Bool

    /// How far dialogs are trusted.
    package var prompterTrust: PrompterTrust

    /// Whether the system's own dialog is to be used where it suffices, and can be.
    package var hasSystemDialog: Bool

    /// Whether the session is locked.
    package var isSessionLocked: Bool

    /// Whether a person may be asked, as far as the caller is concerned.
    package var isInteractionAllowed: Bool

    /// Puts a state together.
    package init(
        biometry: BiometryAvailability,
        isBiometryLocked: Bool = false,
        isPasscodeSet: Bool,
        hasPrompter: Bool = true,
        prompterTrust: PrompterTrust = .trusted,
        hasSystemDialog: Bool = false,
        isSessionLocked: Bool = false,
        isInteractionAllowed: Bool = true
    ) {
        self.biometry = biometry
        self.isBiometryLocked = isBiometryLocked
        self.isPasscodeSet = isPasscodeSet
        self.hasPrompter = hasPrompter
        self.prompterTrust = prompterTrust
        self.hasSystemDialog = hasSystemDialog
        self.isSessionLocked = isSessionLocked
        self.isInteractionAllowed = isInteractionAllowed
    }
}

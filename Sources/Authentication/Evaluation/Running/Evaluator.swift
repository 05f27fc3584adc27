package import DBus
package import KeychainModel

/// Has people prove what policies ask for.
@BusActor
package final class Evaluator {
    let biometry: any Biometry
    let systemDialog: (any SystemDialog)?
    let limits: EvaluationLimits
    let scheduler: Scheduler

    /// Keeps count of failed attempts.
    package let lockout: LockoutKeeper

    /// Counts wrong passcodes, those typed into dialogs that are not trusted by themselves: they cost programs time.
    let passwordLockout: PasswordLockout

    let isSessionLocked: @BusActor () -> Bool

    /// Creates an evaluator.
    ///
    /// - Parameters:
    ///   - untrustedLockout: counts what comes from prompters that are not trusted; nil for the same.
    ///   - systemDialog: used instead of a dialog of ours wherever user presence is enough; nil not to.
    ///   - isSessionLocked: whether the session's screen is locked now.
    package init(
        biometry: any Biometry,
        systemDialog: (any SystemDialog)? = nil,
        lockout: LockoutKeeper,
        untrustedLockout: LockoutKeeper? = nil,
        limits: EvaluationLimits = EvaluationLimits(),
        scheduler: Scheduler = .timers(of: BusActor.loop),
        isSessionLocked: @escaping @BusActor () -> Bool
    ) {
        self.biometry = biometry
        self.systemDialog = systemDialog
        self.lockout = lockout
        passwordLockout = PasswordLockout { [untrustedLockout] source in
            switch source {
            case .person: lockout
            case .program: untrustedLockout ?? lockout
            }
        }
        self.limits = limits
        self.scheduler = scheduler
        self.isSessionLocked = isSessionLocked
    }

    /// Begins to ask a person for what a policy needs and is not proved yet.
    ///
    /// - Parameters:
    ///   - passcode: verifies the passcode, and keeps the key that it gives.
    ///   - applicationPassword: the same for the item's own password; nil if the policy has none.
    ///   - conversation: the caller's; its owner ends it, and may do so at any time.
    ///   - words: the texts of the dialog.
    package func evaluate(
        _ request: EvaluationRequest,
        passcode: any PasswordVerifier,
        applicationPassword: (any PasswordVerifier)? = nil,
        asking conversation: Conversation,
        _ words: EvaluationWords
    ) -> Evaluation {
        let evaluation = Evaluation(
            request,
            passcode: passcode,
            applicationPassword: applicationPassword,
            asking: conversation,
            words,
            evaluator: self
        )
        BusActor.start { await evaluation.run() }
        return evaluation
    }

    /// What would come of an evaluation at this moment; nobody is asked.
    package func verdict(
        on requirement: Requirement,
        proved: FactorSet = [],
        isPasscodeSet: Bool,
        hasPrompter: Bool,
        isInteractionAllowed: Bool = true
    ) async -> Verdict {
        await lockout.load()
        let state = AuthenticationState(
            biometry: await availability(for: requirement),
            isBiometryLocked: lockout.isBiometryLocked,
            isPasscodeSet: isPasscodeSet,
            hasPrompter: hasPrompter,
            hasSystemDialog: await hasSystemDialog(),
            isSessionLocked: isSessionLocked(),
            isInteractionAllowed: isInteractionAllowed
        )
        return Verdict(on: requirement, proved: proved, in: state)
    }

    /// What the reader can do; it is not asked where no finger is of use.
    func availability(for requirement: Requirement) async -> BiometryAvailability {
        guard let factors = requirement.policy?.factors, !factors.isDisjoint(with: .biometry) else {
            return .notAvailable(reason: "the policy asks for no finger")
        }
        return await biometry.availability()
    }

    /// Whether the system's dialog is to be used, and can be.
    func hasSystemDialog() async -> Bool {
        guard let systemDialog else { return false }
        return await systemDialog.isAvailable()
    }
}

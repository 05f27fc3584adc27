package import DBus
package import KeychainModel

/// Evaluates policies by asking a person.
@BusActor
package final class Evaluator {
    let biometry: any Biometry
    let systemDialog: (any SystemDialog)?
    let limits: EvaluationLimits
    let scheduler: Scheduler

    /// The lockout of people.
    package let lockout: LockoutKeeper

    /// The lockouts of the passcode.
    let passwordLockout: PasswordLockout

    let isSessionLocked: @BusActor () -> Bool

    /// Creates an evaluator.
    ///
    /// - Parameters:
    ///   - systemDialog: replaces the dialog of a prompter where user presence is enough; nil for none.
    ///   - untrustedLockout: counts passwords from dialogs that are not trusted; nil to use the same lockout.
    ///   - isSessionLocked: whether the screen is locked now.
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

    /// Starts to ask a person for the factors of a policy that are not proved yet.
    ///
    /// - Parameters:
    ///   - passcode: verifies the passcode, and keeps its key.
    ///   - applicationPassword: verifies the application password of the item; nil if the policy has none.
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

    /// The verdict at the start of an evaluation; asks no person.
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

    /// The availability of the reader, which is not asked if the policy has no biometry.
    func availability(for requirement: Requirement) async -> BiometryAvailability {
        guard let factors = requirement.policy?.factors, !factors.isDisjoint(with: .biometry) else {
            return .notAvailable(reason: "the policy asks for no finger")
        }
        return await biometry.availability()
    }

    /// Whether the dialog of the system is configured and available.
    func hasSystemDialog() async -> Bool {
        guard let systemDialog else { return false }
        return await systemDialog.isAvailable()
    }
}

/// A request to evaluate a policy.
package struct EvaluationRequest: Hashable, Sendable {
    /// The requirement.
    package var requirement: Requirement

    /// The factors proved before, such as by a context; not asked for again.
    package var proved: FactorSet

    /// Whether the caller allows that a person is asked.
    package var isInteractionAllowed: Bool

    /// The text of the dialog of the system: who asks for what, and why.
    package var message: String

    /// Creates a request.
    package init(
        _ requirement: Requirement,
        proved: FactorSet = [],
        isInteractionAllowed: Bool = true,
        message: String
    ) {
        self.requirement = requirement
        self.proved = proved
        self.isInteractionAllowed = isInteractionAllowed
        self.message = message
    }
}

/// The result of an evaluation.
package enum EvaluationOutcome: Hashable, Sendable {
    /// The policy is satisfied, by these proofs and the factors proved before. The verifiers have the keys.
    case satisfied(Proofs)

    /// The policy is not satisfied.
    case failed(AuthenticationError)
}

/// The limits of an evaluation.
package struct EvaluationLimits: Hashable, Sendable {
    /// The number of wrong passwords; the ``Lockout`` limits touches.
    package var passwords = 5

    /// The time without an answer or a touch.
    package var silence = Duration.seconds(120)

    /// The standard limits.
    package init() {}
}

/// A source of timers: the event loop, or a test.
package struct Scheduler: Sendable {
    /// Cancels the timer.
    package typealias Cancellation = @BusActor () -> Void

    private let body: @BusActor (Duration, @escaping @BusActor () -> Void) -> Cancellation

    /// Creates a source of timers.
    package init(_ body: @escaping @BusActor (Duration, @escaping @BusActor () -> Void) -> Cancellation) {
        self.body = body
    }

    /// Calls the action after a delay.
    @BusActor
    package func schedule(after delay: Duration, _ action: @escaping @BusActor () -> Void) -> Cancellation {
        body(delay, action)
    }

    /// The timers of an event loop.
    package static func timers(of loop: EventLoop) -> Scheduler {
        Scheduler { delay, action in
            let timer = loop.schedule(after: delay, action)
            return { loop.cancel(timer) }
        }
    }
}

package import KeychaindDBus
package import KeychaindModel

/// Evaluates policies: with the reader, the dialogs and the lockouts that all evaluations share.
@BusActor
package final class Evaluator {
    let biometry: any Biometry
    let limits: EvaluationLimits
    let scheduler: Scheduler

    package let lockout: LockoutKeeper

    let passwordLockout: PasswordLockout

    let isSessionLocked: @BusActor () -> Bool

    /// Creates an evaluator.
    ///
    /// - Parameter untrustedLockout: counts passwords from untrusted dialogs; nil to use the same lockout.
    package init(
        biometry: any Biometry,
        lockout: LockoutKeeper,
        untrustedLockout: LockoutKeeper? = nil,
        limits: EvaluationLimits = EvaluationLimits(),
        scheduler: Scheduler = .timers(of: BusActor.loop),
        isSessionLocked: @escaping @BusActor () -> Bool
    ) {
        self.biometry = biometry
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

    /// Starts to ask a person for the unproved factors of a policy.
    ///
    /// - Parameters:
    ///   - passcode: verifies the passcode, and keeps its key.
    ///   - applicationPassword: verifies the item's application password; nil if the policy has none.
    ///   - conversation: its owner may end it at any time.
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

    /// Returns the verdict without asking a person.
    package func verdict(
        on requirement: Requirement,
        proved: FactorSet = [],
        isPasscodeSet: Bool,
        prompterTrust: PrompterTrust?,
        isInteractionAllowed: Bool = true
    ) async -> Verdict {
        await lockout.load()
        let state = AuthenticationState(
            biometry: await availability(for: requirement),
            isBiometryLocked: lockout.isBiometryLocked,
            isPasscodeSet: isPasscodeSet,
            prompterTrust: prompterTrust,
            isSessionLocked: isSessionLocked(),
            isInteractionAllowed: isInteractionAllowed
        )
        return Verdict(on: requirement, proved: proved, in: state)
    }

    /// The availability of the reader, asked only if the policy has biometry.
    func availability(for requirement: Requirement) async -> BiometryAvailability {
        guard let factors = requirement.policy?.factors, !factors.isDisjoint(with: .biometry) else {
            return .notAvailable(reason: "the policy has no biometry")
        }
        return await biometry.availability()
    }
}

/// The arguments of an evaluation.
package struct EvaluationRequest: Hashable, Sendable {
    package var requirement: Requirement

    /// The factors already proved, such as by a context.
    package var proved: FactorSet

    /// Whether the caller allows questions to a person.
    package var isInteractionAllowed: Bool

    /// Whether the dialog asks for the passcode when touches have locked the reader, which frees it.
    package var freesReader = false

    package init(
        _ requirement: Requirement,
        proved: FactorSet = [],
        isInteractionAllowed: Bool = true
    ) {
        self.requirement = requirement
        self.proved = proved
        self.isInteractionAllowed = isInteractionAllowed
    }
}

/// The outcome of an evaluation.
package enum EvaluationOutcome: Hashable, Sendable {
    /// These proofs and the earlier ones are enough. The verifiers have the keys.
    case satisfied(Proofs)

    case failed(AuthenticationError)
}

/// Limits of one evaluation.
package struct EvaluationLimits: Hashable, Sendable {
    /// The number of wrong passwords; the ``Lockout`` limits touches.
    package var passwords = 5

    /// The time without an answer or a touch.
    package var silence = Duration.seconds(120)

    package init() {}
}

/// A source of timers: the event loop, or a test.
package struct Scheduler: Sendable {
    package typealias Cancellation = @BusActor () -> Void

    private let body: @BusActor (Duration, @escaping @BusActor () -> Void) -> Cancellation

    package init(_ body: @escaping @BusActor (Duration, @escaping @BusActor () -> Void) -> Cancellation) {
        self.body = body
    }

    @BusActor
    package func schedule(after delay: Duration, _ action: @escaping @BusActor () -> Void) -> Cancellation {
        body(delay, action)
    }

    package static func timers(of loop: EventLoop) -> Scheduler {
        Scheduler { delay, action in
            let timer = loop.schedule(after: delay, action)
            return { loop.cancel(timer) }
        }
    }
}

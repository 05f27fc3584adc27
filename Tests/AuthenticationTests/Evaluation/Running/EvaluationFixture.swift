import Authentication
import DBus
import KeychainModel
import TestSupport
import Testing

/// An evaluator among fakes, and one evaluation after the other.
@BusActor
final class EvaluationFixture {
    /// A clock that a test sets.
    ///
    /// `@unchecked Sendable`: read and written by the loop's thread only, which every test that uses it is isolated to.
    final class Time: @unchecked Sendable {
        var now = Duration.seconds(1000)
    }

    let reader = FakeReader()
    let dialog = FakeDialog()
    let passcode = FakePasscode("right")
    let applicationPassword = FakePasscode("own")
    let store = MemoryLockoutStore()
    let timers = ManualScheduler()
    let time = Time()
    var isSessionLocked = false
    let systemDialog: FakeSystemDialog?
    private(set) lazy var lockout = LockoutKeeper(
        store: store,
        clock: BootClock(bootID: "boot") { [time] in time.now }
    )
    private(set) lazy var evaluator = Evaluator(
        biometry: reader,
        systemDialog: systemDialog,
        lockout: lockout,
        scheduler: timers.scheduler,
        isSessionLocked: { [unowned self] in isSessionLocked }
    )

    init(systemDialog: FakeSystemDialog? = nil) {
        self.systemDialog = systemDialog
        applicationPassword.lockout = LockoutKeeper(
            store: MemoryLockoutStore(),
            clock: BootClock(bootID: "boot") { [time] in time.now }
        )
    }

    /// Begins an evaluation of an access control.
    func begin(
        _ accessControl: String,
        boundTo set: BiometrySet? = FakeReader.set,
        proved: FactorSet = [],
        isInteractionAllowed: Bool = true
    ) throws -> Evaluation {
        let policy = try AccessControl(parsing: accessControl).policy
        let request = EvaluationRequest(
            Requirement(policy: policy, boundSet: set),
            proved: proved,
            isInteractionAllowed: isInteractionAllowed,
            message: "the message"
        )
        return evaluator.evaluate(
            request,
            passcode: passcode,
            applicationPassword: policy.factors.contains(.applicationPassword) ? applicationPassword : nil,
            asking: dialog
        )
    }

    /// Waits for the match with the number, from one.
    func match(_ number: Int = 1) async throws -> FakeReader.Match {
        try await reader.matches.first("match \(number)", after: number - 1)
    }

    /// Waits for the next question, and types an answer.
    func type(_ text: String) async throws {
        let count = dialog.events.all.lastIndex { if case .asked = $0 { false } else { true } } ?? 0
        _ = try await dialog.question(after: count)
        dialog.answer(.text(text))
    }

    /// Answers the question that waits now, and waits for the one after it.
    @discardableResult
    func typeAndWait(_ text: String) async throws -> EvaluationQuestion {
        let count = dialog.events.count
        dialog.answer(.text(text))
        return try await dialog.question(after: count)
    }

    /// Ends a match as not matched, and waits for the one after it.
    func failTouches(_ numbers: ClosedRange<Int>) async throws {
        for number in numbers {
            try await match(number).end(.notMatched)
        }
    }
}

extension EvaluationOutcome {
    /// The proofs of a satisfied policy.
    var factors: FactorSet? {
        if case .satisfied(let proofs) = self { proofs.factors } else { nil }
    }

    /// Why it failed.
    var code: AuthenticationError.Code? {
        if case .failed(let error) = self { error.code } else { nil }
    }
}

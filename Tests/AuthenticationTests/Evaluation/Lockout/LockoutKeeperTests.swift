import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct LockoutKeeperTests {
    private static let late = LockoutRecord(passcodeFailures: 8, lastPasscodeFailure: 0, bootID: "boot")

    @BusActor
    private func keeper(_ store: MemoryLockoutStore, at seconds: Int = 1000) -> LockoutKeeper {
        LockoutKeeper(store: store, clock: BootClock(bootID: "boot") { .seconds(seconds) })
    }

    private func bytes(_ text: String) throws -> SecureBytes {
        try SecureBytes(copying: Array(text.utf8))
    }

    @Test
    @BusActor
    func isBiometryLocked_beforeTheRecordIsRead_isTrue() async {
        let keeper = keeper(MemoryLockoutStore())
        #expect(keeper.isBiometryLocked)
        await keeper.load()
        #expect(!keeper.isBiometryLocked)
    }

    @Test
    @BusActor
    func attempts_outcomes_areCounted() async throws {
        let store = MemoryLockoutStore()
        let keeper = keeper(store)
        let passcode = FakePassword("right")
        #expect(await keeper.attempt(try bytes("wrong"), on: passcode) == .wrong())
        passcode.result = .failed(reason: "no memory")
        #expect(await keeper.attempt(try bytes("right"), on: passcode) == .failed(reason: "no memory"))
        passcode.result = .notNeeded
        #expect(await keeper.attempt(try bytes("unchecked"), on: passcode) == .notNeeded)
        #expect(store.saved.all.map(\.passcodeFailures) == [1, 2, 1, 2, 1])
        passcode.result = nil
        #expect(await keeper.attempt(try bytes("right"), on: passcode) == .right)
        #expect(store.record?.passcodeFailures == 0)
    }

    @Test("Return in an empty field is no try")
    @BusActor
    func attempt_empty_isNotCounted() async throws {
        let store = MemoryLockoutStore()
        let passcode = FakePassword("right")
        #expect(await keeper(store).attempt(try bytes(""), on: passcode) == .wrong(.empty))
        #expect(store.saved.all.isEmpty && passcode.trials.all.isEmpty)
    }

    /// Tries a password several times at once, and records the results.
    @BusActor
    private func attempt(
        _ text: String,
        times: Int,
        _ keeper: LockoutKeeper,
        on passcode: FakePassword
    ) throws -> Recorder<PasswordResult> {
        let outcomes = Recorder<PasswordResult>()
        for _ in 1...times {
            let password = PasswordBox(try bytes(text))
            BusActor.start {
                guard let password = password.take() else { return }
                outcomes.record(await keeper.attempt(password, on: passcode))
            }
        }
        return outcomes
    }

    @Test("of two wrong passwords at once where one is accepted, the second waits and is refused")
    @BusActor
    func attempts_twoWrongAtOnce_theSecondIsRefused() async throws {
        let store = MemoryLockoutStore()
        store.record = Self.late
        let keeper = keeper(store)
        let passcode = FakePassword("right")
        passcode.isHeld = true
        let outcomes = try attempt("wrong", times: 2, keeper, on: passcode)
        _ = try await passcode.trials.first("a trial")
        passcode.finish()
        _ = try await outcomes.first("the other result", after: 1)
        #expect(Set(outcomes.all) == [.tooEarly(.seconds(300)), .wrong(wait: .seconds(300))])
        #expect(passcode.trials.count == 1)
    }

    /// Tries a password 64 times at once; the trials end once as many are under way as may be.
    @BusActor
    private func attemptMany(
        _ text: String,
        _ keeper: LockoutKeeper,
        on passcode: FakePassword
    ) async throws -> [PasswordResult] {
        passcode.isHeld = true
        let outcomes = try attempt(text, times: 64, keeper, on: passcode)
        // Three are free, and the fourth comes before the first delay.
        _ = try await passcode.trials.first("the fourth trial", after: 3)
        passcode.isHeld = false
        passcode.finish()
        _ = try await outcomes.first("the last result", after: 63)
        return outcomes.all
    }

    @Test("a right password waits for those under way, however many there are")
    @BusActor
    func attempts_rightOnesAtOnce_areNotRefused() async throws {
        let store = MemoryLockoutStore()
        let passcode = FakePassword("right")
        let outcomes = try await attemptMany("right", keeper(store), on: passcode)
        #expect(Set(outcomes) == [.right])
        #expect(passcode.mostAtOnce == 4)
        #expect(store.record?.passcodeFailures == 0)
    }

    @Test("wrong passwords at once are no more tries than one after another")
    @BusActor
    func attempts_wrongOnesAtOnce_areNoMoreTries() async throws {
        let store = MemoryLockoutStore()
        let passcode = FakePassword("right")
        let outcomes = try await attemptMany("wrong", keeper(store), on: passcode)
        #expect(outcomes.count { $0 == .tooEarly(.seconds(1)) } == 60)
        #expect(passcode.trials.count == 4)
        #expect(store.record?.passcodeFailures == 4)
    }

    @Test("a right password beside others that are tried does not forget them")
    @BusActor
    func attempt_rightBesideAWrongOne_countsThat() async throws {
        let store = MemoryLockoutStore()
        let keeper = keeper(store)
        let slow = FakePassword("right")
        slow.isHeld = true
        let outcomes = try attempt("wrong", times: 1, keeper, on: slow)
        _ = try await slow.trials.first("a trial")
        #expect(await keeper.attempt(try bytes("right"), on: FakePassword("right")) == .right)
        #expect(store.record?.passcodeFailures == 1)
        slow.finish()
        #expect(try await outcomes.first("the wrong one") == .wrong())
        #expect(store.record?.passcodeFailures == 1)
    }

    @Test("a password that was not tried delays no other")
    @BusActor
    func attempt_notTried_beginsNoDelay() async throws {
        let store = MemoryLockoutStore()
        store.record = Self.late
        let keeper = keeper(store)
        let passcode = FakePassword("right")
        passcode.result = .notNeeded
        #expect(await keeper.attempt(try bytes("unchecked"), on: passcode) == .notNeeded)
        #expect(store.record == Self.late)
        passcode.result = nil
        #expect(await keeper.attempt(try bytes("right"), on: passcode) == .right)
    }

    @Test("a password whose try cannot be recorded is not tried, and no other waits for it")
    @BusActor
    func attempt_thatCannotBeRecorded_isNotMade() async throws {
        let store = MemoryLockoutStore()
        store.record = Self.late
        let keeper = keeper(store)
        store.obstacle = .diskIsFull
        let passcode = FakePassword("right")
        #expect(await keeper.attempt(try bytes("right"), on: passcode) == .notCounted(.diskIsFull))
        #expect(passcode.trials.count == 0)
        #expect(await keeper.passcodeDelay() == .zero)
        store.obstacle = nil
        #expect(await keeper.attempt(try bytes("right"), on: passcode) == .right)
        #expect(store.record?.passcodeFailures == 0)
    }

    @Test
    @BusActor
    func restart_duringATrial_countsIt() async throws {
        let store = MemoryLockoutStore()
        let keeper = keeper(store)
        let passcode = FakePassword("right")
        passcode.isHeld = true
        let held = PasswordBox(try bytes("right"))
        BusActor.start {
            guard let password = held.take() else { return }
            _ = await keeper.attempt(password, on: passcode)
        }
        _ = try await passcode.trials.first("a trial")
        // The next start of the daemon reads this record.
        #expect(store.record?.passcodeFailures == 1)
        passcode.finish()
    }

    @Test
    @BusActor
    func passcodeWasRight_elsewhere_unlocks() async {
        let store = MemoryLockoutStore()
        store.record = .unreadable
        let keeper = keeper(store)
        #expect(await keeper.passcodeDelay() == .seconds(300))
        await keeper.passcodeWasRight()
        #expect(await keeper.passcodeDelay() == .zero)
        #expect(!keeper.isBiometryLocked)
        await keeper.passcodeWasRight()
        #expect(store.saved.count == 1)
    }
}

/// Carries a password into a task, once.
@BusActor
private final class PasswordBox {
    private var password: SecureBytes?

    init(_ password: consuming SecureBytes) {
        self.password = consume password
    }

    func take() -> SecureBytes? {
        let taken = password.take()
        return taken
    }
}

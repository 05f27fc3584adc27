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

    @Test
    @BusActor
    func attempts_twoAtOnce_theSecondSeesTheFirst() async throws {
        let store = MemoryLockoutStore()
        store.record = Self.late
        let keeper = keeper(store)
        let passcode = FakePassword("right")
        passcode.isHeld = true
        let outcomes = Recorder<PasswordResult>()
        for _ in 1...2 {
            let guess = try bytes("wrong")
            let held = PasswordBox(guess)
            BusActor.start {
                guard let password = held.take() else { return }
                outcomes.record(await keeper.attempt(password, on: passcode))
            }
        }
        #expect(try await outcomes.first("the refused one") == .tooEarly(.seconds(300)))
        passcode.finish()
        #expect(try await outcomes.first("the tried one", after: 1) == .wrong(wait: .seconds(300)))
        #expect(passcode.trials.count == 1)
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

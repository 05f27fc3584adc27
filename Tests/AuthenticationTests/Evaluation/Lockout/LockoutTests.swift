import KeychaindAuthentication
import KeychaindTestSupport
import Testing

struct LockoutTests {
    private func clock(_ boot: String = "boot", at seconds: Int = 1000) -> BootClock {
        BootClock(bootID: boot) { .seconds(seconds) }
    }

    private func failed(_ count: Int, lockout: Lockout? = nil, at seconds: Int = 1000) -> Lockout {
        var lockout = lockout ?? Lockout(nil, clock: clock(at: seconds))
        for _ in 0..<count {
            lockout.passcodeIsTried(at: .seconds(seconds))
        }
        return lockout
    }

    @Test
    func touches_fiveInARow_lock_untilAPasscodeIsRight() {
        var lockout = Lockout(nil, clock: clock())
        for number in 1...6 {
            lockout.touchFailed()
            #expect(lockout.isBiometryLocked == (number >= 5))
        }
        lockout.touchMatched()
        #expect(lockout.isBiometryLocked)
        lockout.passcodeWasRight()
        #expect(!lockout.isBiometryLocked)
        #expect(lockout.record.biometricFailures == 0)
    }

    @Test
    func touches_aMatchBetween_startsAnew() {
        var lockout = Lockout(nil, clock: clock())
        for _ in 0..<4 { lockout.touchFailed() }
        lockout.touchMatched()
        for _ in 0..<4 { lockout.touchFailed() }
        #expect(!lockout.isBiometryLocked)
    }

    @Test(
        arguments: [(0, 0), (1, 0), (3, 0), (4, 1), (5, 5), (6, 15), (7, 60), (8, 300), (9, 300), (1000, 300)]
    )
    func passcodeDelay_failures_growsToFiveMinutes(failures: Int, seconds: Int) {
        let lockout = failed(failures)
        #expect(lockout.passcodeDelay(at: .seconds(1000)) == .seconds(seconds))
        #expect(lockout.passcodeDelay(at: .seconds(1000 + seconds)) == .zero)
        if seconds > 0 {
            #expect(lockout.passcodeDelay(at: .seconds(1000 + seconds) - .nanoseconds(1)) == .nanoseconds(1))
        }
    }

    @Test
    func passcodeWasRight_afterMany_forgetsAll() {
        var lockout = failed(20)
        lockout.passcodeWasRight()
        #expect(lockout.passcodeDelay(at: .seconds(1000)) == .zero)
        #expect(failed(3, lockout: lockout).passcodeDelay(at: .seconds(1000)) == .zero)
    }

    @Test
    func restart_sameBoot_goesOnWhereItWas() {
        let before = failed(8, at: 1000)
        let after = Lockout(before.record, clock: clock(at: 1100))
        #expect(after.passcodeDelay(at: .seconds(1100)) == .seconds(200))
        #expect(after.passcodeDelay(at: .seconds(1300)) == .zero)
    }

    @Test(arguments: [5, 1000, 1_000_000])
    func restart_otherBoot_beginsTheDelayAnew(now: Int) {
        let before = failed(8, at: 1000)
        let after = Lockout(before.record, clock: clock("next boot", at: now))
        #expect(after.passcodeDelay(at: .seconds(now)) == .seconds(300))
        #expect(after.passcodeDelay(at: .seconds(now + 300)) == .zero)
        // The record belongs to this boot after a restart of the daemon, too.
        let again = Lockout(after.record, clock: clock("next boot", at: now + 100))
        #expect(again.passcodeDelay(at: .seconds(now + 100)) == .seconds(200))
    }

    @Test
    func restart_unknownBoot_beginsTheDelayAnew() {
        var lockout = Lockout(nil, clock: clock(""))
        for _ in 0..<8 { lockout.passcodeIsTried(at: .seconds(1000)) }
        #expect(Lockout(lockout.record, clock: clock("", at: 5000)).passcodeDelay(at: .seconds(5000)) == .seconds(300))
    }

    @Test
    func restart_failureFromTheFuture_countsAsOfNow() {
        let record = LockoutRecord(passcodeFailures: 8, lastPasscodeFailure: .max, bootID: "boot")
        #expect(Lockout(record, clock: clock(at: 1000)).passcodeDelay(at: .seconds(1000)) == .seconds(300))
    }

    @Test
    func touchLock_restart_stays() {
        var lockout = Lockout(nil, clock: clock())
        for _ in 0..<5 { lockout.touchFailed() }
        #expect(Lockout(lockout.record, clock: clock("next boot")).isBiometryLocked)
    }

    @Test
    func unreadable_record_locksAndDelays() {
        var lockout = Lockout(.unreadable, clock: clock())
        #expect(lockout.isBiometryLocked)
        #expect(lockout.passcodeDelay(at: .seconds(1000)) == .seconds(300))
        lockout.touchFailed()
        lockout.passcodeIsTried(at: .seconds(2000))
        #expect(lockout.passcodeDelay(at: .seconds(2000)) == .seconds(300))
        lockout.passcodeWasRight()
        #expect(!lockout.isBiometryLocked)
    }

    @Test
    func time_atItsEnds_doesNotTrap() {
        let ends: [Duration] = [.zero, .seconds(-5), .seconds(Int64.max), .seconds(Int64.min)]
        for start in ends {
            var lockout = Lockout(.unreadable, clock: BootClock(bootID: "boot") { start })
            for now in ends {
                lockout.passcodeIsTried(at: now)
                _ = lockout.passcodeDelay(at: now)
            }
        }
    }

    @Test
    func delay_randomHistory_isNeverShortenedByRestarts() {
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<500 {
            var now = Int.random(in: 0..<10_000, using: &generator)
            var boot = 0
            var lockout = Lockout(nil, clock: clock("\(boot)", at: now))
            for _ in 0..<30 {
                switch Int.random(in: 0..<4, using: &generator) {
                case 0:
                    lockout.passcodeIsTried(at: .seconds(now))
                case 1:
                    now += Int.random(in: 0..<100, using: &generator)
                default:
                    let before = lockout.passcodeDelay(at: .seconds(now))
                    if Bool.random(using: &generator) {
                        boot += 1
                        now = Int.random(in: 0..<10_000, using: &generator)
                    }
                    let record = LockoutRecord(packed: lockout.record.packed)
                    lockout = Lockout(record, clock: clock("\(boot)", at: now))
                    #expect(lockout.passcodeDelay(at: .seconds(now)) >= before)
                }
            }
        }
    }
}

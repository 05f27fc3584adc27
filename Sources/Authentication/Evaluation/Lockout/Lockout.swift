/// What failed attempts lead to: biometry is locked after five touches that did not match, and wrong passcodes cost time.
///
/// The wall clock plays no part. Within a boot, time is that of ``BootClock``, whether the daemon was restarted or not; after another
/// boot, a delay begins anew, since nothing can tell how long the machine was off. So setting the clock and restarting can make a delay
/// longer, and never shorter.
package struct Lockout: Hashable, Sendable {
    /// How many touches in a row may fail to match.
    package static let biometricLimit: UInt32 = 5

    /// How many wrong passcodes in a row cost nothing.
    package static let freePasscodes: UInt32 = 3

    /// What each further wrong passcode costs before the next is tried; the last of them holds for all that follow.
    package static let delays: [Duration] = [.seconds(1), .seconds(5), .seconds(15), .seconds(60), .seconds(300)]

    /// What is to be remembered.
    package private(set) var record: LockoutRecord

    /// Goes on from what is remembered; nil if nothing ever failed.
    package init(_ record: LockoutRecord?, clock: BootClock) {
        self.record = record ?? LockoutRecord()
        let now = Lockout.nanoseconds(clock.now)
        let isThisBoot = !clock.bootID.isEmpty && self.record.bootID == clock.bootID
        // A record dated in the future was not written here: it counts as one of this moment.
        if !isThisBoot || self.record.lastPasscodeFailure > now {
            self.record.lastPasscodeFailure = now
            self.record.bootID = clock.bootID
        }
    }

    /// Whether biometry is locked until a passcode is right.
    package var isBiometryLocked: Bool { record.biometricFailures >= Lockout.biometricLimit }

    /// How long no passcode is tried; zero if one may be.
    package func passcodeDelay(at now: Duration) -> Duration {
        guard record.passcodeFailures > Lockout.freePasscodes else { return .zero }
        let step = min(Int(record.passcodeFailures - Lockout.freePasscodes), Lockout.delays.count) - 1
        let end = record.lastPasscodeFailure.addingReportingOverflow(Lockout.nanoseconds(Lockout.delays[step]))
        let now = Lockout.nanoseconds(now)
        guard !end.overflow, end.partialValue > now else { return .zero }
        return .nanoseconds(Int64(clamping: end.partialValue - now))
    }

    /// Counts a touch that did not match.
    package mutating func touchFailed() {
        record.biometricFailures = Lockout.increased(record.biometricFailures)
    }

    /// Forgets touches that did not match, as one has; not once biometry is locked.
    package mutating func touchMatched() {
        guard !isBiometryLocked else { return }
        record.biometricFailures = 0
    }

    /// Counts a passcode as wrong, before it is tried: who ends the daemon during the trial has gained nothing.
    package mutating func passcodeIsTried(at now: Duration) {
        record.passcodeFailures = Lockout.increased(record.passcodeFailures)
        record.lastPasscodeFailure = max(record.lastPasscodeFailure, Lockout.nanoseconds(now))
    }

    /// Takes back what ``passcodeIsTried(at:)`` has counted, as the passcode could not be tried.
    package mutating func passcodeWasNotTried() {
        guard record.passcodeFailures > 0 else { return }
        record.passcodeFailures -= 1
    }

    /// Forgets all failures, as a passcode was right.
    package mutating func passcodeWasRight() {
        record.biometricFailures = 0
        record.passcodeFailures = 0
    }

    private static func increased(_ count: UInt32) -> UInt32 {
        count == .max ? count : count + 1
    }

    private static func nanoseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        let whole = UInt64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let sum = whole.partialValue.addingReportingOverflow(UInt64(clamping: attoseconds / 1_000_000_000))
        return whole.overflow || sum.overflow ? .max : sum.partialValue
    }
}

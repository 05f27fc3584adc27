/// The effect of failed attempts: five unmatched touches lock biometry, and wrong passcodes delay the next one.
///
/// Time is that of ``BootClock``. A reboot restarts the delay, as the time powered off is unknown. So neither a set
/// clock nor a restart shortens a delay.
package struct Lockout: Hashable, Sendable {
    /// The number of consecutive touches that may fail.
    package static let biometricLimit: UInt32 = 5

    /// The number of consecutive wrong passcodes without a delay.
    package static let freePasscodes: UInt32 = 3

    /// The delay after each further wrong passcode; the last one repeats.
    package static let delays: [Duration] = [.seconds(1), .seconds(5), .seconds(15), .seconds(60), .seconds(300)]

    package private(set) var record: LockoutRecord
    /// Whether the count comes from other passwords: it delays nothing until a passcode is tried.
    private var isInherited = false

    package init(_ record: LockoutRecord?, clock: BootClock) {
        self.record = record ?? LockoutRecord()
        let now = Lockout.nanoseconds(clock.now)
        let isThisBoot = !clock.bootID.isEmpty && self.record.bootID == clock.bootID
        // A record dated in the future counts as made now.
        if !isThisBoot || self.record.lastPasscodeFailure > now {
            self.record.lastPasscodeFailure = now
            self.record.bootID = clock.bootID
        }
    }

    /// Starts a count at the number of passcodes that were wrong for other passwords.
    package init(startingAt failures: UInt32, clock: BootClock) {
        self.init(LockoutRecord(passcodeFailures: failures), clock: clock)
        isInherited = failures > 0
    }

    package var isBiometryLocked: Bool { record.biometricFailures >= Lockout.biometricLimit }

    /// The time until the next passcode is accepted.
    package func passcodeDelay(at now: Duration) -> Duration {
        guard !isInherited, record.passcodeFailures > Lockout.freePasscodes else { return .zero }
        let step = min(Int(record.passcodeFailures - Lockout.freePasscodes), Lockout.delays.count) - 1
        let end = record.lastPasscodeFailure.addingReportingOverflow(Lockout.nanoseconds(Lockout.delays[step]))
        let now = Lockout.nanoseconds(now)
        guard !end.overflow, end.partialValue > now else { return .zero }
        return .nanoseconds(Int64(clamping: end.partialValue - now))
    }

    package mutating func touchFailed() {
        record.biometricFailures = Lockout.increased(record.biometricFailures)
    }

    /// Resets the count of touches, unless biometry is locked.
    package mutating func touchMatched() {
        guard !isBiometryLocked else { return }
        record.biometricFailures = 0
    }

    /// Counts a passcode as wrong before it is tried, so that killing the daemon meanwhile gains nothing.
    package mutating func passcodeIsTried(at now: Duration) {
        isInherited = false
        record.passcodeFailures = Lockout.increased(record.passcodeFailures)
        record.lastPasscodeFailure = max(record.lastPasscodeFailure, Lockout.nanoseconds(now))
    }

    package mutating func passcodeWasRight() {
        isInherited = false
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

/// The record of failed attempts, kept across restarts of the daemon.
package struct LockoutRecord: Hashable, Sendable {
    package var biometricFailures: UInt32
    package var passcodeFailures: UInt32

    /// In nanoseconds of ``BootClock``.
    package var lastPasscodeFailure: UInt64

    /// The boot of that time; empty if unknown.
    package var bootID: String

    package init(
        biometricFailures: UInt32 = 0,
        passcodeFailures: UInt32 = 0,
        lastPasscodeFailure: UInt64 = 0,
        bootID: String = ""
    ) {
        self.biometricFailures = biometricFailures
        self.passcodeFailures = passcodeFailures
        self.lastPasscodeFailure = lastPasscodeFailure
        self.bootID = bootID
    }

    /// The replacement for an unreadable record: biometry is locked, and the longest delay starts.
    package static let unreadable = LockoutRecord(biometricFailures: .max, passcodeFailures: .max)
}

extension LockoutRecord {
    private static let version: UInt8 = 1
    private static let maximumBootIDLength = 64

    /// At most 100 bytes: version, little-endian numbers, boot ID.
    package var packed: [UInt8] {
        var bytes = [LockoutRecord.version]
        LockoutRecord.append(UInt64(biometricFailures), count: 4, to: &bytes)
        LockoutRecord.append(UInt64(passcodeFailures), count: 4, to: &bytes)
        LockoutRecord.append(lastPasscodeFailure, count: 8, to: &bytes)
        bytes += bootID.utf8.prefix(LockoutRecord.maximumBootIDLength)
        return bytes
    }

    /// Parses a record; ``unreadable`` if the bytes are invalid.
    package init(packed bytes: [UInt8]) {
        guard bytes.first == LockoutRecord.version, (17...17 + LockoutRecord.maximumBootIDLength).contains(bytes.count),
            let bootID = String(validating: bytes[17...], as: UTF8.self)
        else {
            self = .unreadable
            return
        }
        self.init(
            biometricFailures: UInt32(truncatingIfNeeded: LockoutRecord.number(bytes[1..<5])),
            passcodeFailures: UInt32(truncatingIfNeeded: LockoutRecord.number(bytes[5..<9])),
            lastPasscodeFailure: LockoutRecord.number(bytes[9..<17]),
            bootID: bootID
        )
    }

    private static func append(_ number: UInt64, count: Int, to bytes: inout [UInt8]) {
        for index in 0..<count {
            bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index)))
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// What is remembered of failed attempts from one run of the daemon to the next: plain fields, for any store.
package struct LockoutRecord: Hashable, Sendable {
    /// Touches that did not match, since the last that did or the last passcode that was right.
    package var biometricFailures: UInt32

    /// Passcodes that were wrong, since the last that was right.
    package var passcodeFailures: UInt32

    /// When the last passcode was wrong: nanoseconds on ``BootClock``.
    package var lastPasscodeFailure: UInt64

    /// Which boot that was, as the kernel spells it; empty if it is not known.
    package var bootID: String

    /// Puts a record together; without arguments, that nothing has failed.
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

    /// What stands for a record that is there and cannot be read: biometry is locked, and the longest delay begins.
    package static let unreadable = LockoutRecord(biometricFailures: .max, passcodeFailures: .max)
}

extension LockoutRecord {
    private static let version: UInt8 = 1
    private static let maximumBootIDLength = 64

    /// The record as bytes, at most 100 of them: a version, the numbers with the low byte first, the boot.
    package var packed: [UInt8] {
        var bytes = [LockoutRecord.version]
        LockoutRecord.append(UInt64(biometricFailures), count: 4, to: &bytes)
        LockoutRecord.append(UInt64(passcodeFailures), count: 4, to: &bytes)
        LockoutRecord.append(lastPasscodeFailure, count: 8, to: &bytes)
        bytes += bootID.utf8.prefix(LockoutRecord.maximumBootIDLength)
        return bytes
    }

    /// Reads bytes; ``unreadable`` if they are no record.
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

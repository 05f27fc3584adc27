/// What is remembered of failed attempts from one run of the daemon to the next: plain fields, for any store.
package struct LockoutRecord: Hashable, Sendable {
    /// Touches that did not match, since the last passcode that was right.
    package var biometricFailures: UInt32

    /// Passcodes that were wrong, since the last that was right.
    package var passcodeFailures: UInt32

    /// When the last passcode was wrong: nanoseconds on the boot's clock, which does not stop while the machine sleeps.
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
}

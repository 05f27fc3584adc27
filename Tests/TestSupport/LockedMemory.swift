import KeychaindGcrypt

/// The locked memory of the test process.
package enum LockedMemory {
    /// Makes it large enough for all tests that run at once.
    ///
    /// The first use of a key in the process sets the size, which for a client is too small for vaults. Traits prepare
    /// it before the first test runs, so one suite that has such a trait is enough for each target.
    package static func prepare() throws {
        _ = try Gcrypt.initialize(lockedBytes: 16 << 20)
    }
}

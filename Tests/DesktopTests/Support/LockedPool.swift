import KeychaindGcrypt
import Testing

/// Gives a suite enough locked memory for the tests that run at once.
struct LockedPool: SuiteTrait {
    func prepare(for test: Test) async throws {
        _ = try Gcrypt.initialize(lockedBytes: 16 * 1024 * 1024)
    }
}

extension Trait where Self == LockedPool {
    static var lockedPool: LockedPool { LockedPool() }
}

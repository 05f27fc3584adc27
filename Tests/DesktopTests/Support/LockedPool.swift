import Gcrypt
import Testing

/// Gives the tests of a suite a pool of locked memory for as many of them as a machine runs at once.
struct LockedPool: SuiteTrait {
    func prepare(for test: Test) async throws {
        _ = try Gcrypt.initialize(lockedBytes: 16 * 1024 * 1024)
    }
}

extension Trait where Self == LockedPool {
    /// Gives the suite a large pool of locked memory.
    static var lockedPool: LockedPool { LockedPool() }
}

import KeychaindTestSupport
import Testing

/// Gives the process enough locked memory, also if a test without a bus is the first to use a key.
struct LockedPool: SuiteTrait {
    func prepare(for test: Test) async throws {
        try LockedMemory.prepare()
    }
}

extension Trait where Self == LockedPool {
    static var lockedPool: LockedPool { LockedPool() }
}

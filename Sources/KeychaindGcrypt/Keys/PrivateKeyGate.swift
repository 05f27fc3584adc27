import Synchronization

/// Bounds how many private keys are computed with at the same time.
///
/// A computation needs several kilobytes of locked memory, of which the default pool has 64 and never gets more;
/// without a bound, threads would take it from each other and fail.
package enum PrivateKeyGate {
    /// The largest key in bits of which two fit into the pool.
    private static let smallBits = 4096

    private static let first = Mutex(())
    private static let second = Mutex(())

    /// Runs a computation when there is room for it; not from within another one.
    package static func run<Result: ~Copyable & Sendable, Failure: Error>(
        bits: Int,
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard bits <= smallBits else {
            return try first.withLock { _ throws(Failure) in
                try second.withLock { _ throws(Failure) in try body() }
            }
        }
        // Behind a computation of seconds, such as a new RSA key, the other place stays free for quick ones.
        if let result = try first.withLockIfAvailable({ _ throws(Failure) in try body() }) { return result }
        return try second.withLock { _ throws(Failure) in try body() }
    }
}

/// The isolation of all code that uses a bus.
///
/// Its executor is the single thread of the event loop, so code here must not block: no disk access, no key derivation,
/// no waiting for a person. In return it needs no locks, and a message is answered on the thread that reads it.
@globalActor
package actor BusActor {
    package static let shared = BusActor()

    package static let loop = EventLoop()

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        Self.loop.asUnownedSerialExecutor()
    }

    /// Starts a task on the event loop and runs it to its first suspension.
    ///
    /// Start every task of this actor here: with the loop as its preferred executor, it resumes on the loop. Otherwise
    /// each continuation passes through the global executor, at the cost of two thread switches.
    @BusActor
    package static func start(_ body: @escaping @BusActor () async -> Void) {
        Task.immediate(executorPreference: loop) { @BusActor in
            await body()
        }
    }

    /// Runs a closure that is on the event loop without the compiler's knowledge, such as a callback from C; else
    /// traps.
    package nonisolated static func assumeIsolated<Result: Sendable>(
        _ operation: @BusActor () throws -> Result
    ) rethrows -> Result {
        // The same check as `preconditionIsolated()`, but cheaper: every message passes here several times.
        loop.checkIsolated()
        // The two function types differ only in isolation, which was checked above.
        return try withoutActuallyEscaping(operation) {
            try unsafeBitCast($0, to: (() throws -> Result).self)()
        }
    }
}

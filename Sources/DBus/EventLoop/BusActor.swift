/// The isolation of everything that touches a bus: its executor is the one thread of the event loop.
///
/// What runs here must not block: no disk, no key derivation, no waiting for a person. In return it needs no locks, and a
/// message is answered on the thread that read it.
@globalActor
package actor BusActor {
    package static let shared = BusActor()

    /// The loop that runs this actor's jobs.
    package static let loop = EventLoop()

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        Self.loop.asUnownedSerialExecutor()
    }

    /// Starts a task on the loop, and runs it up to where it first waits.
    ///
    /// Every task of this actor is to be started here: with the loop as its preferred executor, what resumes it resumes it on
    /// the loop's thread. Without, a continuation goes through Swift's global executor, which costs a hop between threads and the
    /// threads themselves.
    @BusActor
    package static func start(_ body: @escaping @BusActor () async -> Void) {
        Task.immediate(executorPreference: loop) { @BusActor in
            await body()
        }
    }

    /// Runs a closure that the compiler cannot see to be on the loop's thread, such as a callback from C.
    ///
    /// Traps if the current thread is another one.
    package nonisolated static func assumeIsolated<Result: Sendable>(
        _ operation: @BusActor () throws -> Result
    ) rethrows -> Result {
        // What `preconditionIsolated()` comes to by a longer way, in what every message passes several times.
        loop.checkIsolated()
        // The two function types differ only in their isolation, which was checked in the line above.
        return try withoutActuallyEscaping(operation) {
            try unsafeBitCast($0, to: (() throws -> Result).self)()
        }
    }
}

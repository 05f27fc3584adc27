import Synchronization

/// Derives keys on a thread of its own, in turn between owners.
///
/// One at a time, because each derivation takes much memory.
final class Derivations: Sendable {
    private let worker: Worker<Void>
    private let waiting = Mutex(WorkQueue<@Sendable () -> Void>())

    init() throws(VaultError) {
        worker = try Worker("key derivation", ())
    }

    /// Runs a derivation in the turn of the current task's owner.
    func perform<Result: Sendable>(
        _ derivation: @escaping @Sendable () throws(VaultError) -> Result
    ) async throws(VaultError) -> Result {
        // Connections that nobody has looked at yet would each have turns of their own.
        let owner = await WorkOwner.current.known
        let result: Swift.Result<Result, VaultError> = await withCheckedContinuation { continuation in
            let isAccepted = add(for: owner) {
                do throws(VaultError) {
                    continuation.resume(returning: .success(try derivation()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
            if !isAccepted { continuation.resume(returning: .failure(VaultError.vaultClosed)) }
        }
        return try result.get()
    }

    /// Queues a derivation for a person; dropped after ``stop()``.
    func post(_ derivation: @escaping @Sendable () -> Void) {
        _ = add(for: .person, derivation)
    }

    /// Runs the waiting derivations, and accepts no more.
    func stop() async {
        await worker.stop()
    }

    /// Adds a derivation; false once they are stopped.
    private func add(for owner: WorkOwner, _ derivation: @escaping @Sendable () -> Void) -> Bool {
        waiting.withLock { waiting in
            // The worker runs as many as were added, and decides at each which is next.
            guard worker.post({ [self] _ in runNext() }) else { return false }
            waiting.add(derivation, for: owner)
            return true
        }
    }

    private func runNext() {
        let next = waiting.withLock { waiting in waiting.takeNext() }
        next?()
    }
}

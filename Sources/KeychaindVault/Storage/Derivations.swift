import Synchronization

/// The owner of a key derivation, which decides its turn.
package enum DerivationOwner: Hashable, Sendable {
    /// A person who waits at a login or at a dialog.
    case person
    /// The client whose call needs the key.
    case client(ObjectIdentifier)

    /// The owner of the current task's derivations.
    @TaskLocal package static var current = DerivationOwner.person
}

/// Derives keys on a thread of its own, in turn between owners.
///
/// One at a time, because each derivation takes much memory.
final class Derivations: Sendable {
    private let worker: Worker<Void>
    private let waiting = Mutex(DerivationQueue<@Sendable () -> Void>())

    init() throws(VaultError) {
        worker = try Worker("key derivation", ())
    }

    /// Runs a derivation in the turn of the current task's owner.
    func perform<Result: Sendable>(
        _ derivation: @escaping @Sendable () throws(VaultError) -> Result
    ) async throws(VaultError) -> Result {
        let owner = DerivationOwner.current
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
    private func add(for owner: DerivationOwner, _ derivation: @escaping @Sendable () -> Void) -> Bool {
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

/// The waiting derivations: round-robin by client, and in order of arrival for each owner.
///
/// A person is served first, but not twice in a row while a client waits: neither can starve the other.
package struct DerivationQueue<Element> {
    private var elements: [DerivationOwner: [Element]] = [:]
    /// The clients with elements; the next first.
    private var clients: [DerivationOwner] = []
    private var lastOwner: DerivationOwner?

    package init() {}

    package mutating func add(_ element: Element, for owner: DerivationOwner) {
        if owner != .person, elements[owner] == nil { clients.append(owner) }
        elements[owner, default: []].append(element)
    }

    package mutating func takeNext() -> Element? {
        guard let owner = takeOwner(), let element = elements[owner]?.removeFirst() else { return nil }
        lastOwner = owner
        if elements[owner]?.isEmpty == true {
            elements[owner] = nil
        } else if owner != .person {
            clients.append(owner)
        }
        return element
    }

    private mutating func takeOwner() -> DerivationOwner? {
        let isPersonNext = elements[.person] != nil && (clients.isEmpty || lastOwner != .person)
        return isPersonNext ? .person : clients.isEmpty ? nil : clients.removeFirst()
    }
}

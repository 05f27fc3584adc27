import KeychaindDBus

extension SecretClient {
    /// Subscribes to the changes that the provider makes from then on.
    ///
    /// The sequence holds the client, which stays connected while the sequence exists.
    public func changes() async throws(SecretServiceError) -> SecretChanges {
        let buffer = ChangeBuffer()
        try await onLink { [weak self] (link) throws(SecretServiceError) in
            _ = try await link.provider()
            link.changes.add(buffer, owner: link.owner, on: link.connection) { [weak self] in self }
        }
        _ = try await call(ChangeReader.introduction())
        return SecretChanges(client: self, buffer: buffer)
    }
}

/// The changes at the provider, in order, from the time of the subscription.
///
/// The sequence ends when the bus or the client closes, or the task is cancelled. It buffers 1024 changes for a slow
/// task; one more replaces them all by ``SecretChange/missed``. Use one sequence per task.
public struct SecretChanges: AsyncSequence, Sendable {
    /// A change.
    public typealias Element = SecretChange

    let client: SecretClient
    let buffer: ChangeBuffer

    /// Creates an iterator over the changes.
    public func makeAsyncIterator() -> Iterator {
        Iterator(client: client, buffer: buffer)
    }

    /// Iterates over changes.
    public struct Iterator: AsyncIteratorProtocol {
        let client: SecretClient
        let buffer: ChangeBuffer

        /// Waits for the next change; returns nil at the end.
        public mutating func next() async -> SecretChange? {
            await buffer.next()
        }

        /// Waits for the next change; returns nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> SecretChange? {
            await buffer.next()
        }
    }
}

/// A change at the provider, by any program.
public enum SecretChange: Hashable, Sendable {
    /// A collection was created.
    case collectionCreated(SecretCollection)
    /// A collection was locked, unlocked or renamed, or its items have changed.
    case collectionChanged(SecretCollection)
    /// A collection was deleted with its items.
    case collectionDeleted(SecretCollection)
    /// An item was created.
    case itemCreated(SecretItem)
    /// An item was locked, unlocked or changed.
    case itemChanged(SecretItem)
    /// An item was deleted.
    case itemDeleted(SecretItem)
    /// Another provider took over, or the same one restarted: everything may be different.
    case providerChanged
    /// Changes were dropped because the sequence was read too slowly: everything may be different.
    case missed
}

/// A bounded buffer of changes for one reader.
@BusActor
final class ChangeBuffer {
    private enum State {
        case buffering([SecretChange])
        case waiting(Promise<SecretChange?>)
        case finished([SecretChange])
    }

    private static let limit = 1024

    private var state = State.buffering([])

    nonisolated init() {}

    var isFinished: Bool {
        if case .finished = state { true } else { false }
    }

    func add(_ change: SecretChange) {
        switch state {
        case .buffering(var changes):
            // Without this, the append would copy the array.
            state = .buffering([])
            if changes.count >= ChangeBuffer.limit { changes = [.missed] }
            changes.append(change)
            state = .buffering(changes)
        case .waiting(let promise):
            state = .buffering([])
            promise.fulfill(change)
        case .finished:
            break
        }
    }

    /// The buffered changes can still be read.
    func finish() {
        switch state {
        case .buffering(let changes):
            state = .finished(changes)
        case .waiting(let promise):
            state = .finished([])
            promise.fulfill(nil)
        case .finished:
            break
        }
    }

    /// Waits for a change; returns nil at the end.
    ///
    /// Cancelling the task finishes the buffer.
    func next() async -> SecretChange? {
        await withTaskCancellationHandler {
            await take()
        } onCancel: {
            Task(executorPreference: BusActor.loop) { @BusActor in self.finish() }
        }
    }

    private func take() async -> SecretChange? {
        switch state {
        case .buffering(var changes) where !changes.isEmpty:
            state = .buffering([])
            let change = changes.removeFirst()
            state = .buffering(changes)
            return change
        case .finished(var changes) where !changes.isEmpty:
            state = .finished([])
            let change = changes.removeFirst()
            state = .finished(changes)
            return change
        case .buffering:
            guard !Task.isCancelled else { return nil }
            let promise = Promise<SecretChange?>()
            state = .waiting(promise)
            return await promise.value()
        case .waiting, .finished:
            // A second task that reads the same sequence gets nothing.
            return nil
        }
    }
}

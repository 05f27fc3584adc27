/// The changes at the provider, in order and from the time when it was asked for.
///
/// It ends when the bus goes, the client is closed, or the task is cancelled. It keeps up to 1024 changes for a task that is slow; when
/// one more comes, it gives up all of them for one ``SecretChange/missed``. It is for one task; ask for another for another.
public struct SecretChanges: AsyncSequence, Sendable {
    /// What comes.
    public typealias Element = SecretChange

    let subscription: ChangeSubscription

    /// Begins to take changes.
    public func makeAsyncIterator() -> Iterator {
        Iterator(subscription: subscription)
    }

    /// Takes changes one by one.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: ChangeSubscription

        /// Waits for the next change; nil when no more will come.
        public mutating func next() async -> SecretChange? {
            await subscription.buffer.next()
        }

        /// Waits for the next change; nil when no more will come.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> SecretChange? {
            await subscription.buffer.next()
        }
    }
}

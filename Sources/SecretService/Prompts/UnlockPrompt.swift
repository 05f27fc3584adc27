import DBus
import Vault

/// Unlocks collections, one after the other; the result is what was unlocked of what was asked for (#71).
@BusActor
final class UnlockPrompt: PromptAction {
    /// An object to unlock, as the caller spells it, and the collection that has to be unlocked for it.
    struct Request {
        let path: ObjectPath
        let collection: Collection
    }

    private let requests: [Request]
    private let provider: Provider

    init(_ requests: [Request], provider: Provider) {
        self.requests = requests
        self.provider = provider
    }

    var emptyResult: Variant { .objectPaths([]) }

    func perform(asking conversation: Conversation) async -> PromptOutcome {
        for request in requests {
            // Who dismisses one dialog does not want to see the next.
            guard await provider.unlock(request.collection, asking: conversation) else { break }
        }
        let unlocked = requests.filter { !$0.collection.isLocked }.map(\.path)
        return unlocked.isEmpty ? .dismissed(emptyResult) : .done(.objectPaths(unlocked))
    }
}

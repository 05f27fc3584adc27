import Authentication
import DBus
import Desktop
import KeychainModel
import Logging
import Vault

/// Unlocks collections and items; the result is what was unlocked of what was asked for (#71).
///
/// A collection is unlocked for everybody, by its password. A protected item is unlocked for the caller alone, by what its policy
/// asks for: the caller gets a grant (#75), or in a context that has asked for something else, an authorisation for that.
@BusActor
final class UnlockPrompt: PromptAction {
    /// An object to unlock, as the caller spells it.
    struct Request {
        let path: ObjectPath
        /// The collection, or the one that holds the item.
        let collection: Collection
        /// Nil if the collection itself is to be unlocked.
        let item: ItemID?

        /// What it takes in memory, about.
        var size: Int { MemoryLayout<Request>.stride + path.rawValue.utf8.count }
    }

    private let requests: [Request]
    private let action: ItemAction
    /// How it looks, and what takes note of what was proved; nil without one.
    let context: AuthenticationContext?
    private let unlocking: Unlocking
    private unowned let client: Client

    init(
        _ requests: [Request],
        to action: ItemAction = .use,
        for client: Client,
        in context: AuthenticationContext? = nil,
        unlocking: Unlocking
    ) {
        self.requests = requests
        self.action = action
        keptBytes = requests.reduce(0) { $0 + $1.size }
        self.client = client
        self.context = context
        self.unlocking = unlocking
    }

    var emptyResult: Variant { .objectPaths([]) }

    let keptBytes: Int

    func perform(asking conversation: Conversation, for client: Client) async -> PromptOutcome {
        let authentication = ItemAuthentication(
            to: action,
            for: client,
            await client.caller(),
            in: context,
            by: unlocking.authenticator
        )
        let named = NamedItems(knownItems) { authentication.purpose(of: $0, by: Policy(.passcode)) }
        // Who dismisses one dialog does not want to see the next.
        if await unlockCollections(asking: conversation, naming: named) {
            await authenticate(authentication, given: named, asking: conversation)
        }
        let unlocked = requests.filter { !isLocked($0) }.map(\.path)
        return unlocked.isEmpty ? .dismissed(emptyResult) : .done(.objectPaths(unlocked))
    }

    private func unlockCollections(asking conversation: Conversation, naming named: NamedItems?) async -> Bool {
        for request in requests where request.collection.isLocked {
            let isUnlocked = await unlocking.unlocker.unlock(
                request.collection,
                asking: conversation,
                for: client,
                naming: named
            )
            guard isUnlocked else { return false }
        }
        return true
    }

    /// Asks for what the policies of the locked items need, and grants the client those that were proved; a failure goes to the context.
    private func authenticate(
        _ authentication: ItemAuthentication,
        given named: NamedItems?,
        asking conversation: Conversation
    ) async {
        do throws(AuthenticationError) {
            try await authentication.run(lockedItems, given: named, asking: conversation)
        } catch {
            unlocking.authenticator.logger.debug("An authentication came to nothing", metadata: ["reason": "\(error)"])
            context?.failure = error
        }
    }

    /// The items that are locked to the client alone, each once.
    private var lockedItems: [ProtectedItem] {
        items { id, collection in
            guard !collection.isLocked, !unlocking.isAllowed(action, id, in: collection, for: client, context) else {
                return nil
            }
            switch unlocking.access.verdict(on: id, in: collection, for: client) {
            case .needsAuthentication(let policy): return policy
            case .granted: return collection.protection(of: id).policy
            case .open, .unavailable: return nil
            }
        }
    }

    /// What will be locked to the caller alone once all is unlocked, and needs the passcode, as far as is known: of a keychain that has
    /// not been unlocked since the start nothing is.
    private var knownItems: [ProtectedItem] {
        items { id, collection in
            if unlocking.isAllowed(action, id, in: collection, for: client, context) { return nil }
            guard let policy = collection.protection(of: id).policy, policy.factors.contains(.passcode) else {
                return nil
            }
            return policy
        }
        .filter { !$0.isSealed || unlocking.vault.passcodeOpens($0.id, in: $0.collection) }
    }

    /// The items with a policy, each once.
    private func items(_ policy: (ItemID, Collection) -> Policy?) -> [ProtectedItem] {
        var seen: Set<ItemReference> = []
        return requests.compactMap { request in
            guard let id = request.item, request.collection.contains(id), let policy = policy(id, request.collection),
                seen.insert(ItemReference(id, in: request.collection)).inserted
            else { return nil }
            return ProtectedItem(id: id, collection: request.collection, policy: policy)
        }
    }

    private func isLocked(_ request: Request) -> Bool {
        guard let id = request.item else { return request.collection.isLocked }
        guard request.collection.contains(id) else { return true }
        return !unlocking.isAllowed(action, id, in: request.collection, for: client, context)
    }
}

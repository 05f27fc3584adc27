import Authentication
import DBus
import Desktop
import KeychainModel
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
    private let caller: String
    /// How it looks, and what takes note of what was proved; nil without one.
    let context: AuthenticationContext?
    private let provider: Provider

    init(
        _ requests: [Request],
        to action: ItemAction = .use,
        for caller: String,
        in context: AuthenticationContext? = nil,
        provider: Provider
    ) {
        self.requests = requests
        self.action = action
        keptBytes = requests.reduce(0) { $0 + $1.size }
        self.caller = caller
        self.context = context
        self.provider = provider
    }

    var emptyResult: Variant { .objectPaths([]) }

    let keptBytes: Int

    func perform(asking conversation: Conversation) async -> PromptOutcome {
        let caller = await provider.callers.caller(caller)
        let authentication = ItemAuthentication(to: action, for: caller, in: context, provider: provider)
        let named = NamedItems(knownItems) { authentication.purpose(of: $0, by: Policy(.passcode)) }
        // Who dismisses one dialog does not want to see the next.
        if await unlockCollections(asking: conversation, naming: named) {
            await provider.authenticate(lockedItems, given: named, by: authentication, asking: conversation)
        }
        let unlocked = requests.filter { !isLocked($0) }.map(\.path)
        return unlocked.isEmpty ? .dismissed(emptyResult) : .done(.objectPaths(unlocked))
    }

    private func unlockCollections(asking conversation: Conversation, naming named: NamedItems?) async -> Bool {
        for request in requests where request.collection.isLocked {
            guard await provider.unlock(request.collection, asking: conversation, naming: named) else {
                return false
            }
        }
        return true
    }

    /// What is locked to the caller alone, each item once.
    private var lockedItems: [ProtectedItem] {
        items { id, collection in
            guard !collection.isLocked, !provider.isAllowed(action, id, in: collection, for: caller, context) else {
                return nil
            }
            switch provider.access.verdict(on: id, in: collection, for: caller) {
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
            if provider.isAllowed(action, id, in: collection, for: caller, context) { return nil }
            guard let policy = collection.protection(of: id).policy, policy.factors.contains(.passcode) else {
                return nil
            }
            return policy
        }
        .filter { !$0.isSealed || provider.vault.passcodeOpens($0.id, in: $0.collection) }
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
        return !provider.isAllowed(action, id, in: request.collection, for: caller, context)
    }
}

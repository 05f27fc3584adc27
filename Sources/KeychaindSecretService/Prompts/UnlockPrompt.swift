import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindVault
import Logging

/// Unlocks collections and items; the result is the paths of those now unlocked (#71).
///
/// A collection is unlocked for every caller, by its password. A protected item is unlocked for this caller only, by
/// its policy: the caller gets a grant (#75), or an authorisation for another action that the context requested.
@BusActor
final class UnlockPrompt: PromptAction {
    /// An object to unlock, with the path as spelled by the caller.
    struct Request {
        let path: ObjectPath
        /// The collection itself, or that of the item.
        private(set) var collection: Collection
        /// Nil if the collection itself is to be unlocked.
        let item: ItemID?

        /// The approximate size in bytes.
        var size: Int { MemoryLayout<Request>.stride + path.rawValue.utf8.count }

        init(path: ObjectPath, collection: Collection, item: ItemID?) {
            self.path = path
            self.collection = collection
            self.item = item
        }

        /// Turns to the collection in place of one whose file was replaced or restored; false if there is none.
        fileprivate mutating func follow(in vault: Vault) -> Bool {
            guard collection.isRetired, let present = vault.collection(named: collection.name), present !== collection
            else { return false }
            collection = present
            return true
        }
    }

    private var requests: [Request]
    private let action: ItemAction
    /// The context that sets the appearance of the dialogs and records the proofs, if any.
    let context: AuthenticationContext?
    private let unlocking: Unlocking
    private unowned let client: Client

    private var authenticator: Authenticator { unlocking.authenticator }

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
            by: authenticator
        )
        followCollections()
        let named = NamedItems(knownItems()) { authentication.purpose(of: $0, by: Policy(.passcode)) }
        // A person who dismisses a dialog does not want the next.
        let isUnlocked = await unlockCollections(asking: conversation, naming: named)
        let hasFollowed = followCollections()
        if isUnlocked {
            await confirm(asking: conversation)
            // What the dialog has named may be other items in the file that is there now.
            await authenticate(authentication, given: hasFollowed ? nil : named, asking: conversation)
        } else if let error = conversation.failure {
            context?.failure = AuthenticationError(error)
        }
        let unlocked = unlockedPaths()
        return unlocked.isEmpty ? .dismissed(emptyResult) : .done(.objectPaths(unlocked))
    }

    private func unlockCollections(asking conversation: Conversation, naming named: NamedItems?) async -> Bool {
        for collection in collections()
        where collection.isLocked && !collection.isUnreadable && !collection.isDeleted {
            let isUnlocked = await unlocking.unlocker.unlockPresent(
                collection,
                asking: conversation,
                for: client,
                naming: named
            )
            // Its deletion also ends its dialog.
            guard isUnlocked || collection.isDeleted else { return false }
        }
        return true
    }

    /// Authenticates for the locked items and grants the proved ones to the client; the context gets the error.
    private func authenticate(
        _ authentication: ItemAuthentication,
        given named: NamedItems?,
        asking conversation: Conversation
    ) async {
        do throws(AuthenticationError) {
            try await authentication.run(lockedItems(), given: named, asking: conversation)
        } catch {
            authenticator.logger.debug("An authentication failed", metadata: ["reason": "\(error)"])
            context?.failure = error
        }
    }

    /// Asks about the items of which a rule says so.
    private func confirm(asking conversation: Conversation) async {
        guard action == .use, unlocking.access.rules.isActive else { return }
        let asked = items { id, collection in
            unlocking.access.asksPerson(about: id, in: collection, for: client)
                ? Constraint.userPresence.policy : nil
        }
        guard !asked.isEmpty else { return }
        let confirmation = ItemConfirmation(
            client: client,
            caller: await client.caller(),
            settings: context?.settings ?? AuthenticationSettings(),
            authenticator: authenticator
        )
        await confirmation.run(asked, asking: conversation)
    }

    // MARK: Looking

    /// Turns to the collections that have taken the place of others since; false if none has.
    @discardableResult
    private func followCollections() -> Bool {
        var hasFollowed = false
        for index in requests.indices where requests[index].follow(in: unlocking.vault) { hasFollowed = true }
        return hasFollowed
    }

    /// The collections of the requests, each once; `login` first if it opens others.
    private func collections() -> [Collection] {
        var seen: Set<ObjectIdentifier> = []
        let collections = requests.map(\.collection).filter { seen.insert(ObjectIdentifier($0)).inserted }
        guard collections.contains(where: \.opensWithLogin) else { return collections }
        return collections.filter { $0.name == .login } + collections.filter { $0.name != .login }
    }

    /// The items locked to this client only, each once.
    private func lockedItems() -> [ProtectedItem] {
        items { id, collection in
            guard !collection.isLocked, !unlocking.isAllowed(action, id, in: collection, for: client, context) else {
                return nil
            }
            switch unlocking.access.verdict(on: id, in: collection, for: client) {
            case .needsAuthentication(let policy): return policy
            case .granted: return collection.protection(of: id).policy
            case .open, .needsConfirmation, .unavailable: return nil
            }
        }
    }

    /// The items that will still be locked to this client after the collections are unlocked, and need the passcode:
    /// as many as one dialog can name.
    ///
    /// Protection is known only for collections unlocked since the start.
    private func knownItems() -> [ProtectedItem] {
        var room = ItemNames.Room()
        return items(while: { room.take($0.name) }) { id, collection in
            if unlocking.isAllowed(action, id, in: collection, for: client, context) { return nil }
            guard let policy = collection.protection(of: id).policy, policy.factors.contains(.passcode) else {
                return nil
            }
            return policy
        }
    }

    /// The items with a policy, each once, up to the first one for which the condition does not hold.
    private func items(
        while isWanted: (ProtectedItem) -> Bool = { _ in true },
        _ policy: (ItemID, Collection) -> Policy?
    ) -> [ProtectedItem] {
        guard client.isConnected else { return [] }
        var seen: Set<ItemReference> = []
        var items: [ProtectedItem] = []
        for request in requests {
            guard let id = request.item, request.collection.contains(id),
                let policy = policy(id, request.collection),
                seen.insert(ItemReference(id, in: request.collection)).inserted
            else { continue }
            let item = ProtectedItem(id: id, collection: request.collection, policy: policy)
            guard isWanted(item) else { return items }
            items.append(item)
        }
        return items
    }

    private func unlockedPaths() -> [ObjectPath] {
        client.isConnected ? requests.filter { !isLocked($0) }.map(\.path) : []
    }

    private func isLocked(_ request: Request) -> Bool {
        guard let id = request.item else { return request.collection.isLocked }
        guard request.collection.contains(id) else { return true }
        return !unlocking.isAllowed(action, id, in: request.collection, for: client, context)
    }
}

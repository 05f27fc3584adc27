import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindVault
import Logging

/// Unlocks objects for a client, at once or by a prompt.
@BusActor
struct Unlocking {
    let vault: Vault
    let access: ItemAccess
    let unlocker: Unlocker
    let authenticator: Authenticator
    let limits: ServiceLimits
    let logger: Logger

    /// Returns the unlocked objects, and a prompt for the others.
    ///
    /// Paths are returned as the client spelled them (#70). Unknown objects (#76) and those that cannot be unlocked are
    /// skipped.
    ///
    /// - Parameters:
    ///   - action: the operation; anything but `use` needs a context.
    ///   - context: supplies the settings of the prompt and keeps the proof.
    func unlock(
        _ paths: some Sequence<ObjectPath>,
        to action: ItemAction = .use,
        for client: Client,
        in context: AuthenticationContext? = nil
    ) throws(BusError) -> (unlocked: [ObjectPath], prompt: ObjectPath) {
        var objects = SortedObjects()
        for path in paths { sort(path, into: &objects, to: action, for: client, in: context) }
        objects.unreadable.forEach(logUnreadable)
        guard !objects.locked.isEmpty, context?.settings.allowsInteraction != false else {
            return (objects.unlocked, .root)
        }
        let prompt = UnlockPrompt(objects.locked, to: action, for: client, in: context, unlocking: self)
        return (objects.unlocked, try client.makePrompt(prompt))
    }

    /// Requested objects by what unlocking them takes.
    private struct SortedObjects {
        var unlocked: [ObjectPath] = []
        var locked: [UnlockPrompt.Request] = []
        var unreadable: [CollectionName: String] = [:]
    }

    private func sort(
        _ path: ObjectPath,
        into objects: inout SortedObjects,
        to action: ItemAction,
        for client: Client,
        in context: AuthenticationContext?
    ) {
        guard let (collection, item) = client.findLockable(path, in: vault) else { return }
        // No dialog for what a rule refuses anyway.
        if let item, access.isForbidden(item, in: collection, for: client) { return }
        switch collection.state {
        case .unreadable(let reason):
            // The next Unlock finds it.
            if vault.hasReturned(collection) { BusActor.start { await unlocker.collections.takeUp(collection) } }
            objects.unreadable[collection.name] = reason
            return
        case .unlocked:
            guard let item, !isAllowed(action, item, in: collection, for: client, context) else {
                objects.unlocked.append(path)
                return
            }
            switch access.verdict(on: item, in: collection, for: client) {
            case .unavailable: return
            case .needsConfirmation where access.isSessionLocked: return
            case .open, .granted, .needsAuthentication, .needsConfirmation: break
            }
        case .vacant, .locked, .unlocking:
            break
        }
        objects.locked.append(UnlockPrompt.Request(path: path, collection: collection, item: item))
    }

    /// Whether a client may perform an action on an item without asking a person.
    func isAllowed(
        _ action: ItemAction,
        _ id: ItemID,
        in collection: Collection,
        for client: Client,
        _ context: AuthenticationContext?
    ) -> Bool {
        switch access.verdict(on: id, in: collection, for: client) {
        case .open: true
        case .granted where action == .use: true
        // A rule is about reading.
        case .needsConfirmation: action != .use
        case .granted, .needsAuthentication:
            action == .delete && client.hasStored(id, in: collection)
                || action != .use && isAuthorized(action, ItemReference(id, in: collection), in: context)
        case .unavailable: false
        }
    }

    /// Whether a context keeps an authorisation for an action on an item in its present state.
    private func isAuthorized(
        _ action: ItemAction,
        _ item: ItemReference,
        in context: AuthenticationContext?
    ) -> Bool {
        guard let authorization = context?.authorization(for: action.parts, of: item) else { return false }
        return access.isUnchanged(authorization.item)
    }

    private func logUnreadable(_ name: CollectionName, reason: String) {
        logger.error(
            "Cannot read a keychain; its file is kept as it is",
            metadata: ["keychain": "\(name)", "reason": "\(reason)"]
        )
    }
}

import Authentication
import DBus
import KeychainModel
import Vault

/// The unlocking of collections and items for a caller.
extension Provider {
    /// Reads the one argument of Unlock and Lock, a list of objects; throws `LimitsExceeded` if there are too many.
    func readObjects(of call: MethodCall) throws(BusError) -> [ObjectPath] {
        var reader = call.message.makeReader()
        return try [ObjectPath](from: &reader, limit: limits.objectsPerCall)
    }

    /// Sorts objects into those that are unlocked, and those that a prompt is needed for.
    ///
    /// Each object is given back as the caller spells it (#70); unknown ones are passed over (#76), as are those that nothing
    /// opens now.
    ///
    /// - Parameters:
    ///   - action: what the caller wants of the items; anything but use needs a context.
    ///   - context: how a prompt is to look, and what takes note of what is proved in it.
    func unlock(
        _ paths: [ObjectPath],
        to action: ItemAction = .use,
        for caller: String,
        in context: AuthenticationContext? = nil
    ) throws(BusError) -> (unlocked: [ObjectPath], prompt: ObjectPath) {
        var unlocked: [ObjectPath] = []
        var locked: [UnlockPrompt.Request] = []
        var unreadable: [CollectionName: String] = [:]
        for path in paths {
            guard let (collection, item) = findLockable(path) else { continue }
            switch collection.state {
            case .unreadable(let reason):
                unreadable[collection.name] = reason
                continue
            case .unlocked:
                guard let item, !isAllowed(action, item, in: collection, for: caller, context) else {
                    unlocked.append(path)
                    continue
                }
                if case .unavailable = access.verdict(on: item, in: collection, for: caller) { continue }
            case .vacant, .locked, .unlocking:
                break
            }
            locked.append(UnlockPrompt.Request(path: path, collection: collection, item: item))
        }
        unreadable.forEach(reportUnreadable)
        guard !locked.isEmpty, context?.settings.allowsInteraction != false else { return (unlocked, .root) }
        let prompt = UnlockPrompt(locked, to: action, for: caller, in: context, provider: self)
        return (unlocked, try makePrompt(prompt, for: caller))
    }

    /// Whether a caller may do something to an item at this moment, without a person being asked.
    func isAllowed(
        _ action: ItemAction,
        _ id: ItemID,
        in collection: Collection,
        for caller: String,
        _ context: AuthenticationContext?
    ) -> Bool {
        switch access.verdict(on: id, in: collection, for: caller) {
        case .open: true
        case .granted where action == .use: true
        case .granted, .needsAuthentication:
            action != .use && context?.allows(action.parts, of: ItemReference(id, in: collection)) == true
        case .unavailable: false
        }
    }

    /// Grants those items to a context's owner for which what was proved in the context suffices.
    ///
    /// What cannot be had with it stays locked to the caller, and ``unlock(_:for:in:)`` makes a prompt for it.
    func grantProved(_ paths: [ObjectPath], in context: AuthenticationContext) async {
        guard let (proof, reuse) = context.useProof() else { return }
        let endings = context.endings
        for path in paths {
            guard let (collection, id) = findLockable(path), let id,
                case .needsAuthentication(let policy) = access.verdict(on: id, in: collection, for: context.owner)
            else { continue }
            let item = ProtectedItem(id: id, collection: collection, policy: policy)
            guard proof.satisfies(await item.requirement(with: biometry, in: vault)) else { continue }
            var key: ItemKey?
            if item.isSealed {
                // A collection with a password of its own that was never unlocked beside login knows no other passcode.
                guard let opened = try? await collection.itemKey(of: id, passcode: proof.passcode) else { continue }
                key = opened
            }
            guard context.endings == endings else { continue }
            access.grant(item, to: context.caller, for: reuse, key: key)
        }
    }
}

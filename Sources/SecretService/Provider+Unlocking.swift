import Authentication
import DBus
import KeychainModel
import Vault

/// The unlocking of collections and items for a caller.
extension Provider {
    /// Sorts objects into those that are unlocked, and those that a prompt is needed for.
    ///
    /// Each object is given back as the caller spells it (#70); unknown ones are passed over (#76), as are those that nothing
    /// opens now.
    ///
    /// - Parameter context: where what the caller has proved already is found, and how a prompt is to look.
    func unlock(
        _ paths: [ObjectPath],
        for caller: String,
        in context: AuthenticationContext? = nil
    ) throws(BusError) -> (unlocked: [ObjectPath], prompt: ObjectPath) {
        guard paths.count <= limits.objectsPerPrompt else {
            throw BusError(.limitsExceeded, "Unlock takes at most \(limits.objectsPerPrompt) objects")
        }
        var unlocked: [ObjectPath] = []
        var locked: [UnlockPrompt.Request] = []
        var unreadable: [CollectionName: String] = [:]
        let proofs = context?.useProofs() ?? .none
        for path in paths {
            guard let (collection, item) = findLockable(path) else { continue }
            switch collection.state {
            case .unreadable(let reason):
                unreadable[collection.name] = reason
                continue
            case .unlocked:
                if let context, let item { grant(item, in: collection, to: context, for: proofs) }
                let verdict = item.map { access.verdict(on: $0, in: collection, for: caller) } ?? .open
                guard verdict.isLocked else {
                    unlocked.append(path)
                    continue
                }
                guard case .needsAuthentication = verdict else { continue }
            case .vacant, .locked, .unlocking:
                break
            }
            locked.append(UnlockPrompt.Request(path: path, collection: collection, item: item))
        }
        unreadable.forEach(reportUnreadable)
        guard !locked.isEmpty, context?.settings.allowsInteraction != false else { return (unlocked, .root) }
        return (unlocked, try makePrompt(UnlockPrompt(locked, for: caller, in: context, provider: self), for: caller))
    }

    /// Grants an item to a context's owner if what was proved in the context suffices; a sealed item needs its key, and so a
    /// person.
    private func grant(
        _ id: ItemID,
        in collection: Collection,
        to context: AuthenticationContext,
        for proofs: Proofs
    ) {
        guard case .needsAuthentication(let policy) = access.verdict(on: id, in: collection, for: context.owner),
            policy.isSatisfied(by: proofs.counting(for: Requirement(policy: policy)))
        else { return }
        access.grant(ItemReference(id, in: collection), to: context.caller, for: context.settings.reuse, key: nil)
    }
}

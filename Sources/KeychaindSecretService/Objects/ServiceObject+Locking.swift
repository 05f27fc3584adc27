import KeychaindDBus
import KeychaindModel
import KeychaindVault

extension ServiceObject {
    @BusActor static let lockMethods: [Method<ServiceObject>] = [
        Method(
            "Unlock",
            in: [Parameter("objects", [ObjectPath].self)],
            out: [Parameter("unlocked", [ObjectPath].self), Parameter("prompt", ObjectPath.self)]
        ) { (object, call) throws(BusError) in
            let paths = try object.provider.paths(in: call)
            let (unlocked, prompt) = try object.provider.unlocking.unlock(paths.all, for: object.client)
            call.reply(with: unlocked, prompt)
        },
        Method(
            "Lock",
            in: [Parameter("objects", [ObjectPath].self)],
            out: [Parameter("locked", [ObjectPath].self), Parameter("Prompt", ObjectPath.self)]
        ) { (object, call) throws(BusError) in
            call.reply(with: try object.provider.paths(in: call).all.filter(object.lock), ObjectPath.root)
        },
    ]

    /// Locks a collection for all clients, or a protected item for this one, and no other item (#73).
    ///
    /// - Returns: whether it is locked now.
    @BusActor
    private func lock(_ path: ObjectPath) -> Bool {
        guard let (collection, item) = client.findLockable(path, in: provider.vault) else { return false }
        if let item, !collection.isLocked, collection.protection(of: item).needsAuthentication {
            client.endPermissions(of: ItemReference(item, in: collection))
            return true
        }
        // It would lock the items of others.
        guard !client.view.isConfined else { return false }
        return provider.collections.lock(collection)
    }
}

extension Provider {
    /// Reads the list of object paths in a call.
    ///
    /// - Parameters:
    ///   - skipped: the number of arguments before the list.
    ///   - areDistinct: whether a repeated path is left out.
    func paths(
        in call: MethodCall,
        after skipped: Int = 0,
        areDistinct: Bool = false
    ) throws(BusError) -> PathList {
        try PathList(of: call.message, after: skipped, limit: limits.objectsPerCall, areDistinct: areDistinct)
    }
}

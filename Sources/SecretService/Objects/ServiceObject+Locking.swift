import DBus
import KeychainModel
import Vault

extension ServiceObject {
    @BusActor static let lockMethods: [Method<ServiceObject>] = [
        Method(
            "Unlock",
            in: [Parameter("objects", [ObjectPath].self)],
            out: [Parameter("unlocked", [ObjectPath].self), Parameter("prompt", ObjectPath.self)]
        ) { (object, call) throws(BusError) in
            let paths = try object.provider.readObjects(of: call)
            let (unlocked, prompt) = try object.provider.unlock(paths, for: object.caller)
            call.reply(with: unlocked, prompt)
        },
        Method(
            "Lock",
            in: [Parameter("objects", [ObjectPath].self)],
            out: [Parameter("locked", [ObjectPath].self), Parameter("Prompt", ObjectPath.self)]
        ) { (object, call) throws(BusError) in
            call.reply(with: object.lock(try object.provider.readObjects(of: call)), ObjectPath.root)
        },
    ]

    /// Locks collections, for everybody, and protected items, for the caller; another item cannot be locked alone (#73).
    @BusActor
    private func lock(_ paths: [ObjectPath]) -> [ObjectPath] {
        paths.filter { path in
            guard let (collection, item) = provider.findLockable(path) else { return false }
            if let item, !collection.isLocked, collection.protection(of: item).needsAuthentication {
                let reference = ItemReference(item, in: collection)
                provider.access.endGrant(of: reference, to: caller)
                provider.contexts.endAuthorizations(of: reference, by: caller)
                return true
            }
            return provider.lock(collection)
        }
    }
}

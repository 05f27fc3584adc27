import KeychaindDBus
import KeychaindModel
import KeychaindVault

extension ServiceObject {
    @BusActor static let lockMethods: [Method<ServiceObject>] = [
        Method(
            deciding: "Unlock",
            in: [Parameter("objects", [ObjectPath].self)],
            out: [Parameter("unlocked", [ObjectPath].self), Parameter("prompt", ObjectPath.self)]
        ) { (object, call) throws(BusError) in
            var reader = call.message.makeReader()
            let unlocking = object.provider.unlocking
            if let paths = try unlocking.readFewObjects(&reader) {
                let (unlocked, prompt) = try unlocking.unlock(paths, for: object.client)
                call.reply(with: unlocked, prompt)
                return .answered
            }
            return .suspending { () async throws(BusError) in
                try await object.provider.largeAnswers.make(for: object.client) { () async throws(BusError) in
                    var slice = object.provider.largeAnswers.beginSlice()
                    try await unlocking.unlockMany(call, for: object.client, &slice)
                }
            }
        },
        Method(
            "Lock",
            in: [Parameter("objects", [ObjectPath].self)],
            out: [Parameter("locked", [ObjectPath].self), Parameter("Prompt", ObjectPath.self)]
        ) { (object, call) throws(BusError) in
            var reader = call.message.makeReader()
            let paths = try object.provider.unlocking.readObjects(&reader)
            call.reply(with: object.lock(paths), ObjectPath.root)
        },
    ]

    /// Locks collections for all clients, protected items for this one, and no other items (#73).
    @BusActor
    private func lock(_ paths: [ObjectPath]) -> [ObjectPath] {
        paths.filter { path in
            guard let (collection, item) = client.findLockable(path, in: provider.vault) else { return false }
            if let item, !collection.isLocked, collection.protection(of: item).needsAuthentication {
                let reference = ItemReference(item, in: collection)
                client.endPermissions { $0 == reference }
                return true
            }
            // It would lock the items of others.
            guard !client.view.isConfined else { return false }
            return provider.collections.lock(collection)
        }
    }
}

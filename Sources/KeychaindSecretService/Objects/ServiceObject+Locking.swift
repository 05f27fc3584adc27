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
            deciding: "Lock",
            in: [Parameter("objects", [ObjectPath].self)],
            out: [Parameter("locked", [ObjectPath].self), Parameter("Prompt", ObjectPath.self)]
        ) { (object, call) throws(BusError) in
            var reader = call.message.makeReader()
            guard let paths = try object.provider.unlocking.readFewObjects(&reader) else {
                return .suspending { () async throws(BusError) in try await object.lockMany(call) }
            }
            call.reply(with: paths.filter(object.lock), ObjectPath.root)
            return .answered
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

    /// Answers a Lock of many objects, while other calls are handled.
    @BusActor
    private func lockMany(_ call: MethodCall) async throws(BusError) {
        try await provider.largeAnswers.make(for: client) { () async throws(BusError) in
            var slice = provider.largeAnswers.beginSlice()
            let paths = try await PathList(of: call.message, limit: provider.limits.objectsPerCall, &slice)
            var writer = call.beginReply()
            let locked = writer.beginArray(of: ObjectPath.signature)
            // To the end, even if the client leaves: what it wanted locked is locked.
            for number in 0..<paths.count {
                await slice.yieldIfOver()
                if lock(paths[number]) { paths[number].write(to: &writer) }
            }
            writer.end(locked)
            ObjectPath.root.write(to: &writer)
            await slice.yield()
            call.reply(written: writer)
        }
    }
}

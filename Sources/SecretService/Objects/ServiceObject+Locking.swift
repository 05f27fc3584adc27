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
            try object.unlock(call)
        },
        Method(
            "Lock",
            in: [Parameter("objects", [ObjectPath].self)],
            out: [Parameter("locked", [ObjectPath].self), Parameter("Prompt", ObjectPath.self)]
        ) { (object, call) throws(BusError) in
            call.reply(with: object.lock(try call.arguments([ObjectPath].self)), ObjectPath.root)
        },
    ]

    /// Sorts the objects into those that are unlocked and those that a prompt is needed for.
    ///
    /// Each object is given back as the caller spells it (#70); unknown ones are passed over (#76), as are those that no
    /// password opens.
    @BusActor
    private func unlock(_ call: MethodCall) throws(BusError) {
        var unlocked: [ObjectPath] = []
        var locked: [UnlockPrompt.Request] = []
        var unreadable: [CollectionName: String] = [:]
        let paths: [ObjectPath] = try call.arguments([ObjectPath].self)
        guard paths.count <= provider.limits.objectsPerPrompt else {
            throw BusError(.limitsExceeded, "Unlock takes at most \(provider.limits.objectsPerPrompt) objects")
        }
        for path in paths {
            guard let collection = provider.findCollection(holding: path) else { continue }
            switch collection.state {
            case .unlocked: unlocked.append(path)
            case .unreadable(let reason): unreadable[collection.name] = reason
            case .vacant, .locked, .unlocking: locked.append(UnlockPrompt.Request(path: path, collection: collection))
            }
        }
        unreadable.forEach(provider.reportUnreadable)
        let prompt =
            locked.isEmpty ? .root : try provider.makePrompt(UnlockPrompt(locked, provider: provider), for: caller)
        call.reply(with: unlocked, prompt)
    }

    /// Locks the collections of the objects; an item cannot be locked alone (#73).
    @BusActor
    private func lock(_ paths: [ObjectPath]) -> [ObjectPath] {
        paths.filter { path in
            guard let collection = provider.findCollection(holding: path) else { return false }
            return provider.lock(collection)
        }
    }
}

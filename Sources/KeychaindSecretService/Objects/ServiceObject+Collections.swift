import KeychaindDBus
import KeychaindModel
import KeychaindVault

extension ServiceObject {
    @BusActor static let collectionMethods: [Method<ServiceObject>] = [
        Method(
            suspending: "CreateCollection",
            in: [Parameter("properties", [String: Variant].self), Parameter("alias", String.self)],
            out: [Parameter("collection", ObjectPath.self), Parameter("prompt", ObjectPath.self)]
        ) { (object, call) async throws(BusError) in
            try await object.createCollection(call)
        },
        Method(
            "SearchItems",
            in: [Parameter("attributes", Attributes.self)],
            out: [Parameter("unlocked", [ObjectPath].self), Parameter("locked", [ObjectPath].self)]
        ) { (object, call) throws(BusError) in
            try object.search(call)
        },
        Method(
            "ReadAlias",
            in: [Parameter("name", String.self)],
            out: [Parameter("collection", ObjectPath.self)]
        ) { (object, call) throws(BusError) in
            let found = object.provider.vault.collection(forAlias: try call.arguments(String.self))
            let collection = found.flatMap { object.client.sees($0) ? $0 : nil }
            call.reply(with: collection.map { ObjectPath.collection($0.name) } ?? .root)
        },
        Method(
            suspending: "SetAlias",
            in: [Parameter("name", String.self), Parameter("collection", ObjectPath.self)]
        ) { (object, call) async throws(BusError) in
            let (alias, path) = try call.arguments(String.self, ObjectPath.self)
            try await object.setAlias(alias, path)
            call.reply()
        },
    ]

    /// Returns the collection of the alias (#55), or a prompt that creates one (#52).
    @BusActor
    private func createCollection(_ call: MethodCall) async throws(BusError) {
        var reader = call.message.makeReader()
        let description = try CollectionDescription(from: &reader)
        let alias = try String(from: &reader)
        try provider.collections.checkAlias(alias)
        try provider.collections.checkLabel(description.label ?? "")
        // A program in a sandbox gets the collection that it may store in, and changes none.
        guard !client.view.isConfined else {
            guard let collection = provider.vault.collection(forAlias: alias), client.sees(collection) else {
                throw BusError(.accessDenied, "programs in a sandbox may not create keychains")
            }
            return call.reply(with: ObjectPath.collection(collection.name), ObjectPath.root)
        }
        if let collection = provider.collections.existing(forAlias: alias) {
            if let label = description.label, label != collection.label, !collection.isLocked {
                try await provider.collections.setLabel(of: collection, to: label)
            }
            return call.reply(with: ObjectPath.collection(collection.name), ObjectPath.root)
        }
        if let vacant = provider.collections.vacant(forAlias: alias) {
            try translatingErrors { () throws(VaultError) in try provider.collections.checkFirstPassword(of: vacant) }
        }
        let action = CreatePrompt(label: description.label, alias: alias, unlocker: provider.unlocker)
        call.reply(with: ObjectPath.root, try client.makePrompt(action))
    }

    /// Searches all collections, including locked ones (#62); each list is newest first (#66).
    @BusActor
    private func search(_ call: MethodCall) throws(BusError) {
        let attributes = try call.arguments(Attributes.self)
        var hits = SearchHits(for: client, access: provider.access)
        for collection in provider.vault.collections {
            hits.add(client.search(attributes, in: collection), in: collection)
        }
        client.awaitUnlock(of: hits.hitsInLockedCollections, with: attributes)
        guard hits.byteCount <= provider.limits.pathBytesPerReply else { throw BusError.tooManyHits }
        let (unlocked, locked) = hits.paths()
        call.reply { writer in
            unlocked.write(to: &writer)
            locked.write(to: &writer)
        }
    }

    @BusActor
    private func setAlias(_ alias: String, _ path: ObjectPath) async throws(BusError) {
        try provider.collections.checkAlias(alias)
        guard !alias.isEmpty else { throw BusError(.invalidArguments, "the alias is empty") }
        var collection: Collection?
        if path != .root {
            guard case .collection(let reference) = SecretPath(path), let found = provider.vault.find(reference)
            else {
                throw BusError(.noSuchObject, "there is no collection \(path)")
            }
            collection = found
        }
        try await translatingErrors { () async throws(VaultError) in
            try await provider.vault.setAlias(alias, to: collection)
        }
    }
}

/// Properties of a new collection (#50).
struct CollectionDescription {
    /// Nil if the client gave none (#56).
    private(set) var label: String?

    /// Reads an `a{sv}` with full property names.
    ///
    /// Skips unknown properties (#51); throws `InvalidArgs` for a wrong type (#45).
    init(from reader: inout Reader) throws(BusError) {
        try reader.readDictionary(limit: ServiceLimits.propertiesPerCall) { (reader) throws(BusError) in
            switch try String(from: &reader) {
            case InterfaceName.collection + ".Label":
                label = try reader.readVariant(of: String.self)
            default:
                reader.skip()
            }
        }
    }
}

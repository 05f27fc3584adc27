import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// A collection, reached by its own path or through an alias (#88 – #102).
struct CollectionObject {
    let provider: Provider
    let collection: Collection
    let client: Client

    @BusActor var items: Items { provider.items }

    @BusActor static let kind = ObjectKind<CollectionObject>(
        [secretInterface, keychainInterface, keySlotsInterface, keysInterface],
        children: { $0.itemIDs.map(\.description) }
    )

    @BusActor private static let secretInterface = Interface<CollectionObject>(
        InterfaceName.collection,
        methods: [
            Method(suspending: "Delete", out: [Parameter("prompt", ObjectPath.self)]) {
                (object, call) async throws(BusError) in
                call.reply(with: try await object.delete())
            },
            Method(
                "SearchItems",
                in: [Parameter("attributes", Attributes.self)],
                out: [Parameter("results", [ObjectPath].self)]
            ) { (object, call) throws(BusError) in
                try object.search(call)
            },
            Method(
                suspending: "CreateItem",
                in: [
                    Parameter("properties", [String: Variant].self),
                    Parameter("secret", signature: EncodedSecret.signature),
                    Parameter("replace", Bool.self),
                ],
                out: [Parameter("item", ObjectPath.self), Parameter("prompt", ObjectPath.self)]
            ) { (object, call) async throws(BusError) in
                try await object.create(call)
            },
        ],
        properties: [
            Property("Items", ItemPaths.self, get: { ItemPaths($0.itemIDs, in: $0.collection.name) }),
            Property("Locked", Bool.self, get: { $0.collection.isLocked }),
            Property("Created", UInt64.self, changes: .never, get: { $0.collection.created.seconds }),
            Property("Modified", UInt64.self, get: { $0.client.modified(of: $0.collection).seconds }),
            Property("Label", String.self, get: { $0.collection.label }) { (object, label) async throws(BusError) in
                try await object.provider.collections.setLabel(of: object.collection, to: label)
            },
        ],
        signals: ["ItemCreated", "ItemDeleted", "ItemChanged"].map { name in
            SignalDeclaration(name, [Parameter("item", ObjectPath.self)])
        }
    )

    @BusActor private static let keychainInterface = Interface<CollectionObject>(
        InterfaceName.keychainCollection,
        methods: [
            Method(
                suspending: "CreateItem",
                in: [
                    Parameter("properties", [String: Variant].self),
                    Parameter("secret", signature: EncodedSecret.signature),
                    Parameter("replace", Bool.self),
                    Parameter("unique", [String].self),
                ],
                out: [Parameter("item", ObjectPath.self), Parameter("prompt", ObjectPath.self)]
            ) { (object, call) async throws(BusError) in
                try await object.create(call, ifUnique: try UniqueKey(from: call))
            },
            Method(suspending: "DeleteItems", in: [Parameter("items", [ObjectPath].self)]) {
                (object, call) async throws(BusError) in
                try await object.deleteItems(call)
                call.reply()
            },
        ],
        properties: [
            Property("Problem", String.self, get: { $0.problem }),
            Property("UnlockedBy", String.self, changes: .untold, get: { $0.unlockedBy }),
        ]
    )

    /// The items that exist for the client.
    @BusActor private var itemIDs: [ItemID] { client.itemIDs(in: collection) }

    /// The fault of the file; it may name items, so programs in sandboxes get none.
    @BusActor private var problem: String { client.view.isConfined ? "" : collection.problem ?? "" }

    @BusActor private var unlockedBy: String {
        collection.isLocked ? "" : collection.unlockedBy?.busName ?? ""
    }

    // MARK: Searching

    @BusActor
    private func search(_ call: MethodCall) throws(BusError) {
        let attributes = try call.arguments(Attributes.self)
        let hits = client.search(attributes, in: collection)
        if collection.isLocked {
            client.awaitUnlock(of: hits.lazy.map { ItemReference($0, in: collection) }, with: attributes)
        }
        call.reply(with: ItemPaths(hits, in: collection.name))
    }

    // MARK: Changes

    /// Stores an item of the caller.
    @BusActor
    private func create(_ call: MethodCall, ifUnique key: UniqueKey? = nil) async throws(BusError) {
        let new = try CreationRequest(from: call)
        if !new.secret.isReleasable { try await items.keys.check(new.secret, new.description.attributes, for: client) }
        let (item, prompt) = try await store(new, ifUnique: key)
        call.reply(with: item, prompt)
    }

    /// Stores an item, or returns a prompt that does so after asking a person (#92).
    ///
    /// - Parameter key: the values that no other item may have.
    @BusActor
    func store(
        _ new: consuming CreationRequest,
        ifUnique key: UniqueKey? = nil
    ) async throws(BusError) -> (item: ObjectPath, prompt: ObjectPath) {
        let obstacle = try obstacle(to: new.description, replacing: new.replacing)
        // An access control that stays keeps its password; a new one needs a new password.
        let needsPassword = new.protection?.policy?.factors.contains(.applicationPassword) == true
        let password = needsPassword ? client.credential(of: new.description.context) : nil
        guard obstacle != nil || needsPassword && password == nil else {
            let item = try await items.create(
                new,
                ifUnique: key,
                in: collection,
                for: client,
                applicationPassword: password,
                authorizedBy: nil
            )
            return (item, .root)
        }
        // Checked before a dialog asks about an item that would not be stored.
        try items.checkStoring(new.description.attributes, in: collection, for: client)
        if let key {
            let replaced = new.replacing ? items.itemToReplace(by: new.description, in: collection, for: client) : nil
            try items.check(key, otherThan: replaced, in: collection, for: client)
        }
        let action = CreateItemPrompt(
            new,
            ifUnique: key,
            replacing: obstacle,
            withPassword: needsPassword,
            in: collection,
            items: items
        )
        return (.root, try client.makePrompt(action))
    }

    /// The protected item that a new one would replace: a grant covers reading only, so that takes an authorisation.
    @BusActor
    private func obstacle(to new: ItemDescription, replacing: Bool) throws(BusError) -> ProtectedItem? {
        guard replacing, collection.hasProtectedItems,
            let replaced = items.itemToReplace(by: new, in: collection, for: client)
        else { return nil }
        _ = try Items.attributesToStore(new.attributes, replacing: replaced, in: collection)
        switch items.access.verdict(on: replaced, in: collection, for: client) {
        case .granted, .needsAuthentication:
            return collection.protection(of: replaced).policy.map {
                ProtectedItem(id: replaced, collection: collection, policy: $0)
            }
        case .open, .needsConfirmation, .unavailable: return nil
        }
    }

    /// Deletes the collection, or returns a prompt that does.
    ///
    /// A prompt is needed for a locked collection, for `login`, and for protected items (#89, #110). No program deletes
    /// a collection with an item that a rule forbids it.
    @BusActor
    private func delete() async throws(BusError) -> ObjectPath {
        let rules = DeletionRules(access: items.access)
        try await rules.check(collection, for: client)
        // A person may have limited the program meanwhile.
        try client.checkUnconfined()
        guard collection.isLocked || collection.name == .login || collection.protectedItemCount > 0 else {
            try await provider.collections.delete(collection, withProtectedItems: 0, by: client)
            return .root
        }
        guard !collection.isVacant else {
            throw BusError(.notSupported, "'\(collection.label)' has no password yet; there is nothing to delete")
        }
        if case .unreadable(let reason) = collection.state, !collection.isMissing {
            throw BusError(
                .isLocked,
                "'\(collection.label)' cannot be read, and unreadable keychains are not deleted: \(reason)"
            )
        }
        return try client.makePrompt(DeletePrompt(collection, unlocker: provider.unlocker, rules: rules))
    }
}

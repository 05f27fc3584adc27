import DBus
import KeychainModel
import Vault

/// An item that is there when the call arrives (#103 – #114).
struct ItemObject {
    let provider: Provider
    let collection: Collection
    let id: ItemID
    let caller: String

    @BusActor static let kind = ObjectKind<ItemObject>([secretInterface, keychainInterface])

    @BusActor private static let secretInterface = Interface<ItemObject>(
        InterfaceName.item,
        methods: [
            Method(
                deciding: "GetSecret",
                in: [Parameter("session", ObjectPath.self)],
                out: [Parameter("secret", signature: EncodedSecret.signature)]
            ) { (object, call) throws(BusError) in
                try object.getSecret(call)
            },
            Method(suspending: "SetSecret", in: [Parameter("secret", signature: EncodedSecret.signature)]) {
                (object, call) async throws(BusError) in
                try await object.setSecret(call)
            },
            Method(suspending: "Delete", out: [Parameter("prompt", ObjectPath.self)]) {
                (object, call) async throws(BusError) in
                call.reply(with: try await object.delete())
            },
        ],
        properties: [
            Property("Locked", Bool.self, get: { $0.isLocked }),
            Property("Created", UInt64.self, get: { $0.item.created.seconds }),
            Property("Modified", UInt64.self, get: { $0.item.modified.seconds }),
            Property("Label", String.self, get: { $0.item.label }) { (object, label) async throws(BusError) in
                try await object.update(label: label)
            },
            Property("Attributes", Attributes.self, get: { $0.item.attributes }) {
                (object, attributes) async throws(BusError) in
                try await object.update(attributes: attributes)
            },
            Property("Type", String.self, get: { $0.item.type }) { (object, type) async throws(BusError) in
                try await object.update(type: type)
            },
        ]
    )

    @BusActor private static let keychainInterface = Interface<ItemObject>(
        InterfaceName.keychainItem,
        methods: [
            Method(
                suspending: "Update",
                in: [
                    Parameter("label", String.self), Parameter("attributes", Attributes.self),
                    Parameter("unique", [String].self),
                ]
            ) { (object, call) async throws(BusError) in
                try await object.updateUnique(call)
                call.reply()
            }
        ]
    )

    /// What can be told of the item.
    ///
    /// It is fetched where it is told: it lies elsewhere in memory than the secret, and most calls are for that.
    @BusActor private var item: Item {
        collection.item(id) ?? .deleted(id)
    }

    @BusActor private var isLocked: Bool {
        provider.access.isLocked(id, in: collection, for: caller)
    }

    // MARK: Secrets

    @BusActor
    private func getSecret(_ call: MethodCall) throws(BusError) -> Dispatch {
        var reader = call.message.makeReader()
        let session = try provider.readSession(&reader, of: caller)
        let grant = try provider.access.authorize(id, in: collection, for: caller)
        let secret: Secret?
        do throws(VaultError) {
            secret = try collection.secret(of: id, under: grant)
        } catch {
            throw failure(error)
        }
        guard let secret else {
            return .suspending { () async throws(BusError) in
                try await provider.largeAnswers.make(for: caller) { () async throws(BusError) in
                    try await getStored(call, in: session, under: grant)
                }
            }
        }
        try answer(call, with: try session.encode(secret), under: grant)
        return .answered
    }

    @BusActor
    private func getStored(_ call: MethodCall, in session: Session, under grant: ItemGrant?) async throws(BusError) {
        let secret: Secret
        do throws(VaultError) {
            secret = try await collection.storedSecret(of: id, under: grant)
        } catch {
            throw failure(error)
        }
        try answer(call, with: try session.encode(secret), under: grant)
    }

    /// What the caller is told of a secret that could not be read; everybody is told that the file is damaged, if it is.
    @BusActor
    private func failure(_ error: VaultError) -> BusError {
        provider.changes.tellProblem(of: collection)
        return BusError(error)
    }

    /// Answers with a secret; only now is a grant used, and the secret said to have been released.
    @BusActor
    private func answer(_ call: MethodCall, with secret: EncodedSecret, under grant: ItemGrant?) throws(BusError) {
        if grant != nil { try provider.access.release(id, in: collection, to: caller) }
        secret.answer(call)
    }

    @BusActor
    private func setSecret(_ call: MethodCall) async throws(BusError) {
        let secret = try provider.readSecret(from: call)
        let grant = try provider.access.authorize(id, in: collection, for: caller)
        do throws(VaultError) {
            try await collection.updateItem(
                id,
                secret: secret,
                key: grant?.key,
                authenticated: grant != nil
            )
        } catch {
            throw BusError(error)
        }
        if grant != nil { provider.audit.changed(id, in: collection, by: caller) }
        provider.changes.itemChanged(id, in: collection, [])
        call.reply()
    }

    // MARK: Changes

    @BusActor
    private func update(label: String) async throws(BusError) {
        let grant = try provider.access.authorize(id, in: collection, for: caller)
        try await translatingErrors { () async throws(VaultError) in
            try await collection.updateItem(id, label: label, authenticated: grant != nil)
        }
        if grant != nil { provider.audit.changed(id, in: collection, by: caller) }
        provider.changes.itemChanged(id, in: collection, .label)
    }

    /// Sets all attributes; under a grant, that may take the access control off, or put another in its place (#111).
    @BusActor
    private func update(label: String? = nil, attributes: Attributes) async throws(BusError) {
        let policy = try provider.checkProtection(in: attributes)?.policy
        let attributes = try await BiometryBinding.bind(
            attributes,
            under: policy,
            keeping: item.attributes[BiometryBinding.attribute],
            to: provider.biometry,
            in: provider.vault
        )
        let before = collection.protection(of: id)
        let grant = try provider.access.authorize(id, in: collection, for: caller)
        try await translatingErrors { () async throws(VaultError) in
            try await collection.updateItem(
                id,
                label: label,
                attributes: attributes,
                key: grant?.key,
                authenticated: grant != nil
            )
        }
        let changed: ItemProperties = label == nil ? .attributes : [.label, .attributes]
        if collection.protection(of: id) == before {
            if grant != nil { provider.audit.changed(id, in: collection, by: caller) }
            provider.changes.itemChanged(id, in: collection, changed)
        } else {
            provider.audit.accessControlChanged(id, in: collection, by: caller, authenticated: grant != nil)
            provider.access.endGrants(of: ItemReference(id, in: collection))
            provider.changes.itemChanged(id, in: collection, changed.union(.locked))
        }
    }

    /// Sets label and attributes in one write, unless another item has the same values of some attributes.
    @BusActor
    private func updateUnique(_ call: MethodCall) async throws(BusError) {
        var reader = call.message.makeReader()
        let (label, attributes) = (try String(from: &reader), try Attributes(from: &reader))
        let key = try UniqueKey(of: attributes, names: try UniqueKey.readNames(&reader))
        let place = key.place(in: collection)
        await provider.uniqueCreations.begin(place)
        defer { provider.uniqueCreations.end(place) }
        // A locked collection refuses, whatever is in it.
        guard collection.isLocked || !collection.hasItem(with: key, otherThan: id) else {
            throw BusError(.alreadyExists, "there is another item with these attributes")
        }
        try await update(label: label, attributes: attributes)
    }

    @BusActor
    private func update(type: String) async throws(BusError) {
        let grant = try provider.access.authorize(id, in: collection, for: caller)
        try await translatingErrors { () async throws(VaultError) in
            try await collection.updateItem(
                id,
                setting: Attributes.schema,
                to: type,
                authenticated: grant != nil
            )
        }
        if grant != nil { provider.audit.changed(id, in: collection, by: caller) }
        provider.changes.itemChanged(id, in: collection, .attributes)
    }

    /// Deletes at once what the caller may read; for what is protected, makes a prompt that authenticates first (#109, #129).
    @BusActor
    private func delete() async throws(BusError) -> ObjectPath {
        switch provider.access.verdict(on: id, in: collection, for: caller) {
        case .needsAuthentication(let policy):
            let protected = ProtectedItem(id: id, collection: collection, policy: policy)
            return try provider.makePrompt(DeleteItemPrompt(protected, for: caller, provider: provider), for: caller)
        case .unavailable(.sessionLocked):
            throw BusError(.isLocked, "\(ItemVerdict.Obstacle.sessionLocked)")
        case .granted:
            try await provider.delete(id, in: collection, by: caller, authenticated: true)
        case .open, .unavailable:
            // The vault says what keeps it from being deleted; damage does not, unless the item is protected.
            try await provider.delete(id, in: collection, by: caller, authenticated: false)
        }
        return .root
    }
}

import Authentication
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
                    try await getStored(call, in: session)
                }
            }
        }
        let encoded = try session.encode(secret)
        if grant != nil { try provider.access.release(id, in: collection, to: caller) }
        encoded.answer(call)
        return .answered
    }

    /// How often a secret is read anew that was changed while it was read.
    private static let readings = 3

    /// Answers with a secret that is read first; what was decided before counts for nothing.
    ///
    /// The decision is taken for the secret that is read, and again when it is sent: what was changed meanwhile is begun anew.
    @BusActor
    private func getStored(_ call: MethodCall, in session: Session) async throws(BusError) {
        for _ in 0..<ItemObject.readings {
            let grant = try provider.access.authorize(id, in: collection, for: caller)
            guard let revision = collection.revision(of: id) else { break }
            let secret: Secret
            do throws(VaultError) {
                secret = try await collection.storedSecret(of: revision, with: grant?.key)
            } catch  where error.code == .busy {
                continue
            } catch {
                throw failure(error)
            }
            guard collection.hasSecret(of: revision) else { continue }
            let encoded = try session.encode(secret)
            try provider.access.release(id, in: collection, to: caller)
            return encoded.answer(call)
        }
        throw BusError(.failed, "item \(id) was changed again and again while it was read")
    }

    /// What the caller is told of a secret that could not be read; everybody is told that the file is damaged, if it is.
    @BusActor
    private func failure(_ error: VaultError) -> BusError {
        provider.changes.tellProblem(of: collection)
        return BusError(error)
    }

    @BusActor
    private func setSecret(_ call: MethodCall) async throws(BusError) {
        let secret = try provider.readSecret(from: call)
        let permission = try await permission(to: .changeSecret)
        do throws(VaultError) {
            try await collection.updateItem(
                id,
                secret: secret,
                key: permission?.key,
                authenticated: permission != nil,
                at: permission?.item.revision
            )
        } catch {
            throw BusError(error)
        }
        finish(.changeSecret, permission)
        provider.changes.itemChanged(id, in: collection, [])
        call.reply()
    }

    // MARK: Changes

    /// Lets the caller change the item; nil if no authentication is needed for it.
    ///
    /// For a protected item it takes what was allowed in a context of the caller's. Without that, under a grant, a person is asked for
    /// just this, which the call waits for. Throws `IsLocked` without any of these.
    @BusActor
    private func permission(to action: ItemAction) async throws(BusError) -> ItemAuthorization? {
        let verdict = provider.access.verdict(on: id, in: collection, for: caller)
        switch verdict {
        case .open: return nil
        case .unavailable: break
        case .granted, .needsAuthentication:
            let reference = ItemReference(id, in: collection)
            if let allowed = provider.contexts.takeAuthorization(for: action.parts, of: reference, by: caller),
                provider.access.isUnchanged(allowed.item)
            {
                return allowed
            }
        }
        guard try provider.access.authorize(id, in: collection, for: caller) != nil,
            let policy = collection.protection(of: id).policy
        else { return nil }
        let conversation = provider.makeConversation(for: caller)
        provider.conversations.insert(conversation)
        defer { provider.conversations.end(conversation) }
        let item = ProtectedItem(id: id, collection: collection, policy: policy)
        do throws(AuthenticationError) {
            let permission = try await provider.authorize(action, item, for: caller, asking: conversation)
            // Nobody waits for a change that was asked for by a caller who left meanwhile.
            guard provider.isPresent(caller) else {
                throw AuthenticationError(.appCancel, reason: "the caller has left")
            }
            return permission
        } catch {
            throw BusError(error)
        }
    }

    /// Writes a change of a protected item down, and lets the context keep what else was allowed in it.
    @BusActor
    private func finish(_ action: ItemAction, _ permission: ItemAuthorization?) {
        guard permission != nil else { return }
        provider.audit.changed(id, in: collection, by: caller)
        permission.keepRest(after: action.parts)
    }

    @BusActor
    private func update(label: String) async throws(BusError) {
        let permission = try await permission(to: .rename(label))
        try await translatingErrors { () async throws(VaultError) in
            try await collection.updateItem(
                id,
                label: label,
                authenticated: permission != nil,
                at: permission?.item.revision
            )
        }
        finish(.rename(label), permission)
        provider.changes.itemChanged(id, in: collection, .label)
    }

    /// Sets all attributes, which may take the access control off, or put another in its place (#111).
    @BusActor
    private func update(label: String? = nil, attributes: Attributes) async throws(BusError) {
        let protection = try provider.checkProtection(in: attributes)
        let binding = item.attributes[BiometryBinding.attribute]
        let attributes = try await BiometryBinding.bind(
            attributes,
            under: protection?.policy,
            keeping: binding,
            to: provider.biometry,
            in: provider.vault
        )
        let action = action(changingTo: protection, label: label)
        let permission = try await permission(to: action)
        guard item.attributes[BiometryBinding.attribute] == binding else {
            throw BusError(.failed, "item \(id) was changed at the same time")
        }
        let before = collection.protection(of: id)
        try await translatingErrors { () async throws(VaultError) in
            try await collection.updateItem(
                id,
                label: label,
                attributes: attributes,
                key: permission?.key,
                authenticated: permission != nil,
                at: permission?.item.revision
            )
        }
        let changed: ItemProperties = label == nil ? .attributes : [.label, .attributes]
        if collection.protection(of: id) == before {
            finish(action, permission)
            provider.changes.itemChanged(id, in: collection, changed)
        } else {
            provider.audit.accessControlChanged(id, in: collection, by: caller, authenticated: permission != nil)
            provider.access.endGrants(of: ItemReference(id, in: collection))
            provider.changes.itemChanged(id, in: collection, changed.union(.locked))
        }
    }

    /// What new attributes do to the item, and a new label if it is another.
    @BusActor
    private func action(changingTo new: Protection?, label: String?) -> ItemAction {
        let name = label == item.label ? nil : label
        switch collection.protection(of: id) {
        case .stated(let old) where old.accessControl != nil && new?.accessControl == nil:
            return .removeProtection(name: name)
        case .stated(let old) where old != new:
            return .changeProtection(name: name)
        case .none, .unknown, .stated: return .changeAttributes(name: name)
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
        let action = ItemAction.changeAttributes(name: nil)
        let permission = try await permission(to: action)
        try await translatingErrors { () async throws(VaultError) in
            try await collection.updateItem(
                id,
                setting: Attributes.schema,
                to: type,
                authenticated: permission != nil,
                at: permission?.item.revision
            )
        }
        finish(action, permission)
        provider.changes.itemChanged(id, in: collection, .attributes)
    }

    /// Deletes at once what nothing protects, and what a context of the caller's was asked for; for another protected item, makes a
    /// prompt that authenticates for that first, whatever grant there is (#109, #129).
    @BusActor
    private func delete() async throws(BusError) -> ObjectPath {
        switch provider.access.verdict(on: id, in: collection, for: caller) {
        case .granted, .needsAuthentication:
            guard let policy = collection.protection(of: id).policy else { break }
            let reference = ItemReference(id, in: collection)
            if let allowed = provider.contexts.takeAuthorization(for: .existence, of: reference, by: caller),
                provider.access.isUnchanged(allowed.item)
            {
                try await provider.delete(id, in: collection, by: caller, authorizedBy: allowed)
                return .root
            }
            let protected = ProtectedItem(id: id, collection: collection, policy: policy)
            return try provider.makePrompt(DeleteItemPrompt(protected, for: caller, provider: provider), for: caller)
        case .unavailable(.sessionLocked):
            throw BusError(.isLocked, "\(ItemVerdict.Obstacle.sessionLocked)")
        case .open, .unavailable: break
        }
        // The vault says what keeps it from being deleted; damage does not, unless the item is protected.
        try await provider.delete(id, in: collection, by: caller, authorizedBy: nil)
        return .root
    }
}

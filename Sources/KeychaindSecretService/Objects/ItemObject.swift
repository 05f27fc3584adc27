import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// An existing item (#103 – #114).
struct ItemObject {
    let items: Items
    let reads: ReadPrompts
    let collection: Collection
    let id: ItemID
    let client: Client

    @BusActor static let kind = ObjectKind<ItemObject>([secretInterface, keychainInterface, keyInterface])

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
            Property("Attributes", Attributes.self, get: { $0.shownAttributes }) {
                (object, attributes) async throws(BusError) in
                try await object.update(attributes: attributes)
            },
            Property("Type", String.self, get: { $0.shownAttributes.type }) { (object, type) async throws(BusError) in
                try await object.update(type: type)
            },
        ]
    )

    @BusActor private static let keychainInterface = Interface<ItemObject>(
        InterfaceName.keychainItem,
        methods: [
            Method(
                suspending: "Change",
                in: [
                    Parameter("properties", signature: "a{sv}"),
                    Parameter("secret", signature: "a" + EncodedSecret.signature),
                ]
            ) { (object, call) async throws(BusError) in
                try await object.change(call)
                call.reply()
            }
        ]
    )

    /// The metadata, fetched only where needed: it lies apart from the secret, which most calls read.
    @BusActor var item: Item {
        collection.item(id) ?? .deleted(id)
    }

    /// Before the first unlock, those with which the client has found the item.
    @BusActor private var shownAttributes: Attributes {
        let item = item
        guard case .unread = item.condition else { return item.attributes }
        return client.searchedAttributes(of: ItemReference(id, in: collection))
    }

    @BusActor private var isLocked: Bool {
        items.access.isLocked(id, in: collection, for: client)
    }

    @BusActor
    func permission(to action: ItemAction) async throws(BusError) -> ItemAuthorization? {
        try items.checkChangeable(id, in: collection)
        return try await items.permission(to: action, id, in: collection, for: client)
    }

    /// Checks again what may have changed while a person was asked, or while another change with the unique key was
    /// written: what the client sees, the locks and the rules.
    @BusActor
    private func checkAfterWaiting(
        with attributes: Attributes?,
        under permission: ItemAuthorization?
    ) throws(BusError) {
        try items.checkChange(of: id, in: collection, by: client)
        // The vault knows nothing of a locked screen.
        if collection.contains(id),
            case .unavailable(let obstacle) = items.access.verdict(on: id, in: collection, for: client)
        {
            throw BusError(obstacle)
        }
        try items.access.check(permission)
        guard let attributes else { return }
        try client.checkAccessGroup(of: attributes, instead: item.attributes)
        try items.access.checkRules(on: id, in: collection, with: attributes, for: client)
    }

    @BusActor
    private func didChange(
        from before: ItemProtection? = nil,
        by action: ItemAction,
        _ properties: ItemProperties,
        _ permission: ItemAuthorization?
    ) {
        let before = before ?? collection.protection(of: id)
        items.didChange(id, in: collection, from: before, by: client, action, properties, permission)
    }

    @BusActor
    private func update(label: String) async throws(BusError) {
        let permission = try await permission(to: .rename(label))
        try await write(label: label, by: .rename(label), under: permission)
    }

    /// Sets what is given in one write; attributes are all of them, and can change the access control (#111).
    ///
    /// - Parameter key: the values that no other item may have.
    @BusActor
    func update(
        label: String? = nil,
        attributes: Attributes?,
        secret: consuming Secret? = nil,
        ifUnique key: UniqueKey? = nil
    ) async throws(BusError) {
        let hasSecret = secret != nil
        var protection: Protection?
        let binding = item.attributes[BiometryBinding.attribute]
        var attributes = attributes
        if let new = attributes {
            protection = try Items.checkProtection(in: new)
            try client.checkAccessGroup(of: new, instead: item.attributes)
            if protection?.policy != collection.protection(of: id).policy {
                try await items.checkReachable(protection?.policy, for: client)
            }
            attributes = try await items.bind(new, under: protection?.policy, keeping: binding)
        }
        if let attributes { try items.access.checkRules(on: id, in: collection, with: attributes, for: client) }
        // Checked before a dialog asks about a change that would fail.
        if let key { try items.check(key, otherThan: id, in: collection, for: client) }
        let action = action(changingTo: protection, label: label, attributes, hasSecret: hasSecret)
        let permission = try await permission(to: action)
        // Only now, as a person may take long, and others' changes with the key wait.
        let place = key?.place(in: collection)
        if let place { await items.uniqueKeys.lock(place) }
        defer { if let place { items.uniqueKeys.unlock(place) } }
        if let key { try items.check(key, otherThan: id, in: collection, for: client) }
        guard item.attributes[BiometryBinding.attribute] == binding else {
            throw BusError(.failed, "item \(id) was changed by another call; try again")
        }
        let before = collection.protection(of: id)
        try await write(
            label: label,
            attributes: attributes,
            secret: secret,
            from: before,
            by: action,
            under: permission
        )
    }

    /// Stores the given parts and emits the signals; with an authorisation, only in the item's state that it was for.
    ///
    /// - Parameter before: the previous protection, if the change can be one of it.
    @BusActor
    func write(
        label: String? = nil,
        attributes: Attributes? = nil,
        secret: consuming Secret? = nil,
        from before: ItemProtection? = nil,
        by action: ItemAction,
        under permission: ItemAuthorization?
    ) async throws(BusError) {
        try checkAfterWaiting(with: attributes, under: permission)
        // Not `translatingErrors`: a closure cannot consume the secret.
        do throws(VaultError) {
            try await collection.updateItem(
                id,
                label: label,
                attributes: attributes,
                secret: secret,
                key: permission?.key,
                authenticated: permission != nil,
                at: permission?.item.revision,
                sandboxed: client.view.isSandboxed
            )
        } catch {
            throw BusError(error)
        }
        var properties: ItemProperties = label == nil ? [] : .label
        if attributes != nil { properties.formUnion(.attributes) }
        didChange(from: before, by: action, properties, permission)
    }

    /// The kind of change that the new values make.
    @BusActor
    func action(changingTo new: Protection?, label: String?) -> ItemAction {
        let name = label == item.label ? nil : label
        switch collection.protection(of: id) {
        case .stated(let old) where old.policy != nil && new?.policy == nil:
            return .removeProtection(name: name)
        case .stated(let old) where old != new:
            return .changeProtection(name: name)
        case .none, .unknown, .stated: return .changeAttributes(name: name)
        }
    }

    @BusActor
    private func update(type: String) async throws(BusError) {
        let action = ItemAction.changeAttributes(name: nil)
        let attributes = item.attributes.setting(Attributes.schema, to: type)
        try items.access.checkRules(on: id, in: collection, with: attributes, for: client)
        let permission = try await permission(to: action)
        try checkAfterWaiting(with: item.attributes.setting(Attributes.schema, to: type), under: permission)
        try await translatingErrors { () async throws(VaultError) in
            try await collection.updateItem(
                id,
                setting: Attributes.schema,
                to: type,
                authenticated: permission != nil,
                at: permission?.item.revision,
                sandboxed: client.view.isSandboxed
            )
        }
        didChange(by: action, .attributes, permission)
    }

    /// Deletes an unprotected or authorised item at once; returns a prompt for other protected items.
    @BusActor
    private func delete() async throws(BusError) -> ObjectPath {
        guard let protected = try items.checkDeletion(of: id, in: collection, for: client) else {
            try await items.delete(id, in: collection, by: client, authorizedBy: nil)
            return .root
        }
        guard let authorization = items.takeAuthorization(toDelete: protected, for: client) else {
            return try client.makePrompt(DeleteItemPrompt(protected, items: items))
        }
        try await items.delete(id, in: collection, by: client, authorizedBy: authorization)
        return .root
    }
}

extension ItemObject {
    /// Dispatches a call, some after a person was asked.
    @BusActor
    func dispatch(_ call: MethodCall) throws(BusError) -> Dispatch {
        guard asksBeforeProperties(call) else { return try ItemObject.kind.dispatch(call, on: self) }
        return .suspending { () async throws(BusError) in
            await reads.ask(for: id, in: collection, by: client)
            try client.checkConnected()
            // Meanwhile it may have been deleted, or a person may have limited the program.
            guard collection.contains(id), client.sees(id, in: collection) else {
                throw BusError(.noSuchObject, "there is no item \(id)")
            }
            try await ItemObject.kind.dispatch(call, on: self).finish()
        }
    }

    /// Whether a program of `ask-at-read` reads all properties of an item that its search has found, but that was not
    /// unlocked since the start.
    ///
    /// libsecret's synchronous search never reads them again, and docker's helper crashes without the user name.
    @BusActor
    private func asksBeforeProperties(_ call: MethodCall) -> Bool {
        collection.created(of: id) == nil && reads.areUseful(for: call, reading: id, in: collection)
            && call.interface == StandardInterface.properties && call.member == "GetAll"
            && client.awaitedItems(in: collection.name).contains(id)
    }
}

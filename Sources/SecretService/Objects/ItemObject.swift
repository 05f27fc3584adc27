import DBus
import KeychainModel
import Vault

/// An item, as it was when the call arrived (#103 – #114).
struct ItemObject {
    let provider: Provider
    let collection: Collection
    let item: Item
    let caller: String

    @BusActor static let kind = ObjectKind<ItemObject>([
        Interface(
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
                    try await object.delete()
                    call.reply(with: ObjectPath.root)
                },
            ],
            properties: [
                Property("Locked", Bool.self, get: { $0.collection.isLocked($0.item) }),
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
                    try await object.update(attributes: object.item.attributes.with(type: type))
                },
            ]
        )
    ])

    // MARK: Secrets

    @BusActor
    private func getSecret(_ call: MethodCall) throws(BusError) -> Dispatch {
        var reader = call.message.makeReader()
        let session = try provider.readSession(&reader, of: caller)
        let secret = try translatingErrors { () throws(VaultError) in
            try collection.secret(of: item.id)
        }
        guard let secret else {
            return .suspending { () async throws(BusError) in
                try await provider.largeAnswers.make { () async throws(BusError) in
                    let secret = try await translatingErrors { () async throws(VaultError) in
                        try await collection.storedSecret(of: item.id)
                    }
                    let encoded = try session.encode(secret)
                    encoded.answer(call)
                }
            }
        }
        let encoded = try session.encode(secret)
        encoded.answer(call)
        return .answered
    }

    @BusActor
    private func setSecret(_ call: MethodCall) async throws(BusError) {
        let secret = try provider.readSecret(from: call)
        do throws(VaultError) {
            try await collection.updateItem(item.id, label: nil, attributes: nil, secret: secret)
        } catch {
            throw BusError(error)
        }
        provider.changes.itemChanged(item.id, in: collection, [])
        call.reply()
    }

    // MARK: Changes

    @BusActor
    private func update(label: String? = nil, attributes: Attributes? = nil) async throws(BusError) {
        try await translatingErrors { () async throws(VaultError) in
            try await collection.updateItem(item.id, label: label, attributes: attributes, secret: nil)
        }
        let changed: ItemProperties = label == nil ? .attributes : .label
        provider.changes.itemChanged(item.id, in: collection, changed)
    }

    @BusActor
    private func delete() async throws(BusError) {
        try await translatingErrors { () async throws(VaultError) in try await collection.deleteItem(item.id) }
        provider.changes.itemDeleted(item.id, in: collection)
    }
}

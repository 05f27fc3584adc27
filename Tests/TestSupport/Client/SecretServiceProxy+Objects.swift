package import DBus

extension SecretServiceProxy {
    // MARK: Collections

    /// Creates an item, and gives what the service has given.
    package func createItem(
        in collection: ObjectPath = SecretServiceProxy.defaultAlias,
        properties: [String: Variant],
        secret: WireSecret,
        replace: Bool = false
    ) async throws(BusError) -> (item: ObjectPath, prompt: ObjectPath) {
        try await call(collection, Interface.collection, "CreateItem", properties, secret, replace)
            .read(ObjectPath.self, ObjectPath.self)
    }

    /// Creates an item with a secret in a plain session.
    package func createItem(
        in collection: ObjectPath = SecretServiceProxy.defaultAlias,
        _ label: String = "label",
        _ attributes: [String: String] = [:],
        secret: String = "secret",
        session: ObjectPath,
        replace: Bool = false
    ) async throws(BusError) -> ObjectPath {
        let (item, prompt) = try await createItem(
            in: collection,
            properties: Self.itemProperties(label: label, attributes),
            secret: WireSecret(session: session, value: Array(secret.utf8)),
            replace: replace
        )
        guard prompt == .root else { throw BusError(.failed, "a prompt instead of an item") }
        return item
    }

    /// The properties of an item in the form that `CreateItem` takes.
    package nonisolated static func itemProperties(
        label: String,
        _ attributes: [String: String]
    ) -> [String: Variant] {
        ["\(Interface.item).Label": .string(label), "\(Interface.item).Attributes": .stringDictionary(attributes)]
    }

    /// The properties of a collection in the form that `CreateCollection` takes.
    package nonisolated static func collectionProperties(label: String) -> [String: Variant] {
        ["\(Interface.collection).Label": .string(label)]
    }

    package func searchItems(
        _ attributes: [String: String],
        in collection: ObjectPath
    ) async throws(BusError) -> [ObjectPath] {
        try await call(collection, Interface.collection, "SearchItems", attributes).read([ObjectPath].self)
    }

    package func items(of collection: ObjectPath) async throws(BusError) -> [ObjectPath] {
        try await property("Items", of: collection, Interface.collection)
    }

    package func isCollectionLocked(_ collection: ObjectPath) async throws(BusError) -> Bool {
        try await property("Locked", of: collection, Interface.collection)
    }

    /// Deletes a collection; the result is the prompt.
    package func deleteCollection(_ collection: ObjectPath) async throws(BusError) -> ObjectPath {
        try await call(collection, Interface.collection, "Delete").read(ObjectPath.self)
    }

    // MARK: Items

    package func secret(of item: ObjectPath, session: ObjectPath) async throws(BusError) -> WireSecret {
        try await call(item, Interface.item, "GetSecret", session).read(WireSecret.self)
    }

    /// A secret as text, got in a plain session.
    package func secretText(of item: ObjectPath, session: ObjectPath) async throws(BusError) -> String {
        String(decoding: try await secret(of: item, session: session).value, as: UTF8.self)
    }

    package func setSecret(_ secret: WireSecret, of item: ObjectPath) async throws(BusError) {
        try await call(item, Interface.item, "SetSecret", secret)
    }

    /// Deletes an item; the result is the prompt.
    package func deleteItem(_ item: ObjectPath) async throws(BusError) -> ObjectPath {
        try await call(item, Interface.item, "Delete").read(ObjectPath.self)
    }

    package func isItemLocked(_ item: ObjectPath) async throws(BusError) -> Bool {
        try await property("Locked", of: item, Interface.item)
    }

    package func attributes(of item: ObjectPath) async throws(BusError) -> [String: String] {
        try await property("Attributes", of: item, Interface.item)
    }

    package func label(of item: ObjectPath) async throws(BusError) -> String {
        try await property("Label", of: item, Interface.item)
    }
}

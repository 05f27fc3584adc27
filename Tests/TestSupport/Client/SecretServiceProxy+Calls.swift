package import KeychaindDBus

extension SecretServiceProxy {
    /// Opens a session without encryption.
    package func openPlainSession() async throws(BusError) -> ObjectPath {
        try await openSession("plain", .string("")).session
    }

    /// Calls `OpenSession` and returns its result.
    package func openSession(
        _ algorithm: String,
        _ input: Variant
    ) async throws(BusError) -> (output: Variant, session: ObjectPath) {
        try await call(Self.service, Interface.service, "OpenSession", algorithm, input)
            .read(Variant.self, ObjectPath.self)
    }

    package func closeSession(_ session: ObjectPath) async throws(BusError) {
        try await call(session, Interface.session, "Close")
    }

    package func createCollection(
        _ properties: [String: Variant],
        alias: String = ""
    ) async throws(BusError) -> (collection: ObjectPath, prompt: ObjectPath) {
        try await call(Self.service, Interface.service, "CreateCollection", properties, alias)
            .read(ObjectPath.self, ObjectPath.self)
    }

    package func searchItems(
        _ attributes: [String: String]
    ) async throws(BusError) -> (unlocked: [ObjectPath], locked: [ObjectPath]) {
        try await call(Self.service, Interface.service, "SearchItems", attributes)
            .read([ObjectPath].self, [ObjectPath].self)
    }

    package func unlock(
        _ objects: [ObjectPath]
    ) async throws(BusError) -> (unlocked: [ObjectPath], prompt: ObjectPath) {
        try await call(Self.service, Interface.service, "Unlock", objects).read([ObjectPath].self, ObjectPath.self)
    }

    @discardableResult
    package func lock(
        _ objects: [ObjectPath]
    ) async throws(BusError) -> (locked: [ObjectPath], prompt: ObjectPath) {
        try await call(Self.service, Interface.service, "Lock", objects).read([ObjectPath].self, ObjectPath.self)
    }

    package func secrets(
        of items: [ObjectPath],
        session: ObjectPath
    ) async throws(BusError) -> [ObjectPath: WireSecret] {
        try await call(Self.service, Interface.service, "GetSecrets", items, session)
            .read([ObjectPath: WireSecret].self)
    }

    package func readAlias(_ name: String) async throws(BusError) -> ObjectPath {
        try await call(Self.service, Interface.service, "ReadAlias", name).read(ObjectPath.self)
    }

    package func setAlias(_ name: String, to collection: ObjectPath) async throws(BusError) {
        try await call(Self.service, Interface.service, "SetAlias", name, collection)
    }

    /// The property `Collections` of the service.
    package func collections() async throws(BusError) -> [ObjectPath] {
        try await property("Collections", of: Self.service, Interface.service)
    }
}

extension SecretServiceProxy {
    // MARK: Collections

    /// Calls `CreateItem` and returns its result.
    package func createItem(
        in collection: ObjectPath = SecretServiceProxy.defaultAlias,
        properties: [String: Variant],
        secret: WireSecret,
        replace: Bool = false
    ) async throws(BusError) -> (item: ObjectPath, prompt: ObjectPath) {
        try await call(collection, Interface.collection, "CreateItem", properties, secret, replace)
            .read(ObjectPath.self, ObjectPath.self)
    }

    /// Creates an item in a plain session.
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

    /// Item properties in the form of `CreateItem`.
    package nonisolated static func itemProperties(
        label: String,
        _ attributes: [String: String]
    ) -> [String: Variant] {
        ["\(Interface.item).Label": .string(label), "\(Interface.item).Attributes": .stringDictionary(attributes)]
    }

    /// Collection properties in the form of `CreateCollection`.
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

    /// Deletes a collection and returns the prompt.
    package func deleteCollection(_ collection: ObjectPath) async throws(BusError) -> ObjectPath {
        try await call(collection, Interface.collection, "Delete").read(ObjectPath.self)
    }

    // MARK: Items

    package func secret(of item: ObjectPath, session: ObjectPath) async throws(BusError) -> WireSecret {
        try await call(item, Interface.item, "GetSecret", session).read(WireSecret.self)
    }

    /// A secret of a plain session, as text.
    package func secretText(of item: ObjectPath, session: ObjectPath) async throws(BusError) -> String {
        String(decoding: try await secret(of: item, session: session).value, as: UTF8.self)
    }

    package func setSecret(_ secret: WireSecret, of item: ObjectPath) async throws(BusError) {
        try await call(item, Interface.item, "SetSecret", secret)
    }

    /// Deletes an item and returns the prompt.
    package func deleteItem(_ item: ObjectPath) async throws(BusError) -> ObjectPath {
        try await call(item, Interface.item, "Delete").read(ObjectPath.self)
    }

    /// Deletes items of a collection, all or none.
    package func deleteItems(_ items: [ObjectPath], in collection: ObjectPath) async throws(BusError) {
        try await call(collection, "org.keychaind.Collection1", "DeleteItems", items)
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

extension SecretServiceProxy {
    /// Calls `Prompt`.
    package func show(_ prompt: ObjectPath, window: String = "") async throws(BusError) {
        try await call(prompt, Interface.prompt, "Prompt", window)
    }

    package func dismiss(_ prompt: ObjectPath) async throws(BusError) {
        try await call(prompt, Interface.prompt, "Dismiss")
    }

    /// Waits for the prompt's `Completed`, which may have arrived already.
    package nonisolated func completion(of prompt: ObjectPath) async throws -> PromptOutcome {
        let signal = try await signals.first("Completed of \(prompt)") { signal in
            signal.member == "Completed" && signal.path == prompt.rawValue
        }
        let (isDismissed, result) = try signal.message.read(Bool.self, Variant.self)
        return PromptOutcome(isDismissed: isDismissed, result: result)
    }

    /// Calls `Prompt` and waits for `Completed`.
    package func complete(_ prompt: ObjectPath, window: String = "") async throws -> PromptOutcome {
        try await show(prompt, window: window)
        return try await completion(of: prompt)
    }
}

/// The arguments of `Completed`.
package struct PromptOutcome: Hashable, Sendable {
    package let isDismissed: Bool
    package let result: Variant

    package init(isDismissed: Bool, result: Variant) {
        self.isDismissed = isDismissed
        self.result = result
    }

    /// The result, if it is a list of paths.
    package var paths: [String]? {
        guard case .objectPaths(let paths) = result else { return nil }
        return paths.map(\.rawValue)
    }

    /// The result, if it is a path.
    package var path: ObjectPath? {
        guard case .objectPath(let path) = result else { return nil }
        return path
    }
}

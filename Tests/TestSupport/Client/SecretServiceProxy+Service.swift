package import DBus

extension SecretServiceProxy {
    /// Opens a session without encryption.
    package func openPlainSession() async throws(BusError) -> ObjectPath {
        try await openSession("plain", .string("")).session
    }

    /// Opens a session, and gives what the service has given.
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

    /// The service's property `Collections`.
    package func collections() async throws(BusError) -> [ObjectPath] {
        try await property("Collections", of: Self.service, Interface.service)
    }
}

import DBus

extension SecretClient {
    // MARK: Collections

    /// Every collection, locked or not.
    public func collections() async throws(SecretServiceError) -> [SecretCollection] {
        let paths: [ObjectPath] = try await property("Collections", of: Protocol.serviceObject, Protocol.service)
        return paths.map { SecretCollection(self, $0) }
    }

    /// The collection in which programs without special needs keep their secrets; nil if there is none yet.
    public func defaultCollection() async throws(SecretServiceError) -> SecretCollection? {
        try await collection(alias: "default")
    }

    /// The collection that an alias stands for, such as `default` or `session`; nil if it stands for none.
    public func collection(alias: String) async throws(SecretServiceError) -> SecretCollection? {
        try ArgumentCheck.check(alias)
        let message = Protocol.call(Protocol.serviceObject, Protocol.service, "ReadAlias")
        message.append(alias)
        let path = try await call(message).reading(ObjectPath.self)
        return path == .root ? nil : SecretCollection(self, path)
    }

    /// Lets an alias stand for a collection; nil takes the alias away.
    public func setAlias(_ alias: String, to collection: SecretCollection?) async throws(SecretServiceError) {
        try ArgumentCheck.check(alias)
        let message = Protocol.call(Protocol.serviceObject, Protocol.service, "SetAlias")
        message.append(alias, collection?.objectPath ?? .root)
        _ = try await call(message)
    }

    /// Makes a collection, for whose password a person is asked.
    ///
    /// - Parameters:
    ///   - label: what people see.
    ///   - alias: what is to stand for it; if that stands for a collection already, it is this that is returned.
    ///   - prompting: how the person may be asked.
    public func createCollection(
        label: String,
        alias: String = "",
        prompting: SecretPrompting = .shown
    ) async throws(SecretServiceError) -> SecretCollection {
        try ArgumentCheck.check([label, alias])
        let message = Protocol.call(Protocol.serviceObject, Protocol.service, "CreateCollection")
        message.append(["\(Protocol.collection).Label": Variant.string(label)], alias)
        let (path, prompted) = try await callWithPrompt(message, prompting) { (reply) throws(SecretServiceError) in
            let (path, prompt) = try reply.reading(ObjectPath.self, ObjectPath.self)
            return (path, prompt: prompt)
        }
        return SecretCollection(self, try prompted?.path() ?? path)
    }

    /// The collection at a path that was kept from before; whether there is one shows when it is used.
    ///
    /// Throws ``SecretServiceError/Code/invalidArguments`` if the text is not a path.
    public func collection(at path: String) throws(SecretServiceError) -> SecretCollection {
        SecretCollection(self, try SecretClient.path(path))
    }

    // MARK: Items

    /// The item at a path that was kept from before; whether there is one shows when it is used.
    ///
    /// Throws ``SecretServiceError/Code/invalidArguments`` if the text is not a path.
    public func item(at path: String) throws(SecretServiceError) -> SecretItem {
        SecretItem(self, try SecretClient.path(path))
    }

    /// The items of all collections that have all of these attributes, and perhaps others.
    public func search(_ attributes: [String: String]) async throws(SecretServiceError) -> SecretSearchResult {
        try ArgumentCheck.check("", attributes)
        let message = Protocol.call(Protocol.serviceObject, Protocol.service, "SearchItems")
        message.append(attributes)
        let (unlocked, locked) = try await call(message).reading([ObjectPath].self, [ObjectPath].self)
        return SecretSearchResult(
            unlocked: unlocked.map { SecretItem(self, $0) },
            locked: locked.map { SecretItem(self, $0) }
        )
    }

    /// Reads the secrets of many items in one call, and gives them to a closure one by one; those that are locked or have gone are left
    /// out.
    ///
    /// Each secret is overwritten when the closure returns, unless it takes it.
    ///
    /// - Parameters:
    ///   - items: the items.
    ///   - body: may throw any error, which ends this, and which this throws; else it throws ``SecretServiceError``.
    public func forEachSecret<Failure: Error>(
        of items: [SecretItem],
        _ body: (SecretItem, consuming Secret) throws(Failure) -> Void
    ) async throws {
        let (reply, session) = try await secrets(of: items)
        defer { reply.wipeByteArrays() }
        // What the closure throws cannot pass through the reader, whose errors are the bus's.
        var failure: (any Error)?
        do throws(BusError) {
            var reader = reply.makeReader()
            try reader.readDictionary { (reader) throws(BusError) in
                let item = SecretItem(self, try ObjectPath(from: &reader))
                do {
                    try body(item, try session.read(&reader))
                } catch {
                    failure = error
                    throw BusError(.failed, "")
                }
            }
        } catch {
            throw failure ?? SecretServiceError(reading: error)
        }
    }

    /// Reads the secrets of items, and says in which session they came.
    private func secrets(of items: [SecretItem]) async throws(SecretServiceError) -> (Message, ProviderSession) {
        let paths = items.map(\.objectPath)
        var mayRenewSession = true
        while true {
            let session = try await session()
            let message = Protocol.call(Protocol.serviceObject, Protocol.service, "GetSecrets")
            message.append(paths, session.path)
            do throws(SecretServiceError) {
                return (try await call(message, to: session.owner), session)
            } catch  where error.code == .noSession && mayRenewSession {
                mayRenewSession = false
                try await onLink { (link) throws(SecretServiceError) in link.forget(session) }
            }
        }
    }

    // MARK: Locking

    /// Unlocks many items, or many collections, at once.
    ///
    /// - Returns: those that are unlocked now.
    public func unlock<Object: SecretObject>(
        _ objects: [Object],
        prompting: SecretPrompting = .shown
    ) async throws(SecretServiceError) -> [Object] {
        let unlocked = Set(try await unlock(objects.map(\.path), prompting))
        return objects.filter { unlocked.contains($0.path) }
    }

    /// Unlocks items and collections at once.
    ///
    /// - Returns: those that are unlocked now.
    public func unlock(
        _ objects: [any SecretObject],
        prompting: SecretPrompting = .shown
    ) async throws(SecretServiceError) -> [any SecretObject] {
        let unlocked = Set(try await unlock(objects.map(\.path), prompting))
        return objects.filter { unlocked.contains($0.path) }
    }

    /// Locks many collections and items at once.
    public func lock(
        _ objects: [any SecretObject],
        prompting: SecretPrompting = .shown
    ) async throws(SecretServiceError) {
        try await lock(objects.map(\.path), prompting)
    }

    func unlock(_ paths: [String], _ prompting: SecretPrompting) async throws(SecretServiceError) -> [String] {
        try await change("Unlock", paths, prompting)
    }

    func lock(_ paths: [String], _ prompting: SecretPrompting) async throws(SecretServiceError) {
        _ = try await change("Lock", paths, prompting)
    }

    private func change(
        _ member: String,
        _ paths: [String],
        _ prompting: SecretPrompting
    ) async throws(SecretServiceError) -> [String] {
        let message = Protocol.call(Protocol.serviceObject, Protocol.service, member)
        message.append(paths.map { ObjectPath(unchecked: $0) })
        let (atOnce, prompted) = try await callWithPrompt(message, prompting) { (reply) throws(SecretServiceError) in
            let (paths, prompt) = try reply.reading([ObjectPath].self, ObjectPath.self)
            return (paths, prompt: prompt)
        }
        return (atOnce + (try prompted?.paths() ?? [])).map(\.rawValue)
    }

    private static func path(_ text: String) throws(SecretServiceError) -> ObjectPath {
        guard let path = ObjectPath(text) else {
            throw SecretServiceError(.invalidArguments, "what should be a path is none")
        }
        return path
    }
}

import KeychaindDBus

extension SecretClient {
    // MARK: Collections

    /// All collections, locked or not.
    public func collections() async throws(SecretServiceError) -> [SecretCollection] {
        let paths: [ObjectPath] = try await property("Collections", of: Protocol.serviceObject, Protocol.service)
        return paths.map { SecretCollection(self, $0) }
    }

    /// The default collection for new items; nil if there is none.
    public func defaultCollection() async throws(SecretServiceError) -> SecretCollection? {
        try await collection(alias: "default")
    }

    /// The collection of an alias such as `default` or `session`; nil if the alias is not set.
    public func collection(alias: String) async throws(SecretServiceError) -> SecretCollection? {
        try ArgumentCheck.check(alias)
        let message = ProviderInterface.service.call("ReadAlias", alias)
        let path = try await call(message).reading(ObjectPath.self)
        return path == .root ? nil : SecretCollection(self, path)
    }

    /// Sets an alias to a collection; nil removes the alias.
    public func setAlias(_ alias: String, to collection: SecretCollection?) async throws(SecretServiceError) {
        try ArgumentCheck.check(alias)
        let message = ProviderInterface.service.call("SetAlias", alias, collection?.objectPath ?? .root)
        _ = try await call(message)
    }

    /// Creates a collection; a person is asked for its password.
    ///
    /// - Parameters:
    ///   - label: the label, for people.
    ///   - alias: an alias for the collection; if it is set already, its collection is returned instead.
    ///   - prompting: how the person may be asked.
    public func createCollection(
        label: String,
        alias: String = "",
        prompting: SecretPrompting = .shown
    ) async throws(SecretServiceError) -> SecretCollection {
        try ArgumentCheck.check([label, alias])
        let message = ProviderInterface.service.call("CreateCollection", Protocol.collection(label), alias)
        let (path, prompted) = try await callWithPrompt(message, prompting) { (reply) throws(SecretServiceError) in
            let (path, prompt) = try reply.reading(ObjectPath.self, ObjectPath.self)
            return (path, prompt: prompt)
        }
        return SecretCollection(self, try prompted?.path() ?? path)
    }

    /// The collection at a stored path, which is not checked until it is used.
    ///
    /// Throws ``SecretServiceError/Code/invalidArguments`` if the text is not a path.
    public func collection(at path: String) throws(SecretServiceError) -> SecretCollection {
        SecretCollection(self, try SecretClient.path(path))
    }

    // MARK: Items

    /// The item at a stored path, which is not checked until it is used.
    ///
    /// Throws ``SecretServiceError/Code/invalidArguments`` if the text is not a path.
    public func item(at path: String) throws(SecretServiceError) -> SecretItem {
        SecretItem(self, try SecretClient.path(path))
    }

    /// The items of all collections with at least these attributes.
    public func search(_ attributes: [String: String]) async throws(SecretServiceError) -> SecretSearchResult {
        try ArgumentCheck.check("", attributes)
        let message = ProviderInterface.service.call("SearchItems", attributes)
        let (unlocked, locked) = try await call(message).reading([ObjectPath].self, [ObjectPath].self)
        return SecretSearchResult(
            unlocked: unlocked.map { SecretItem(self, $0) },
            locked: locked.map { SecretItem(self, $0) }
        )
    }

    /// Reads the secrets of many items in one call, and calls a closure with each.
    ///
    /// Locked and deleted items are left out.
    ///
    /// A secret is overwritten when the closure returns, unless the closure consumes it.
    ///
    /// - Parameters:
    ///   - items: the items.
    ///   - body: handles one secret; an error that it throws ends the iteration and is rethrown. All other errors are
    ///     ``SecretServiceError``.
    public func forEachSecret<Failure: Error>(
        of items: [SecretItem],
        _ body: (SecretItem, consuming Secret) throws(Failure) -> Void
    ) async throws {
        let (reply, session) = try await secrets(of: items)
        defer { reply.wipeByteArrays() }
        // The reader throws only errors of the bus, so the closure's error is kept here.
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

    /// The result includes the session that encodes the secrets.
    private func secrets(of items: [SecretItem]) async throws(SecretServiceError) -> (Message, ProviderSession) {
        let paths = items.map(\.objectPath)
        var mayRenewSession = true
        while true {
            let session = try await session()
            let message = ProviderInterface.service.call("GetSecrets", paths, session.path)
            // Locked items are left out: keychaind does not ask a person at such a read (`ask-at-read`).
            message.forbidActivation()
            do throws(SecretServiceError) {
                return (try await call(message, to: session.owner), session)
            } catch  where error.code == .noSession && mayRenewSession {
                mayRenewSession = false
                try await onLink { (link) throws(SecretServiceError) in link.forget(session) }
            }
        }
    }

    // MARK: Locking

    /// Unlocks many items, or many collections, in one call.
    ///
    /// - Returns: the unlocked ones.
    public func unlock<Object: SecretObject>(
        _ objects: [Object],
        prompting: SecretPrompting = .shown
    ) async throws(SecretServiceError) -> [Object] {
        let unlocked = Set(try await unlock(objects.map(\.path), prompting))
        return objects.filter { unlocked.contains($0.path) }
    }

    /// Unlocks items and collections in one call.
    ///
    /// - Returns: the unlocked ones.
    public func unlock(
        _ objects: [any SecretObject],
        prompting: SecretPrompting = .shown
    ) async throws(SecretServiceError) -> [any SecretObject] {
        let unlocked = Set(try await unlock(objects.map(\.path), prompting))
        return objects.filter { unlocked.contains($0.path) }
    }

    /// Locks items and collections in one call.
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
        let message = ProviderInterface.service.call(member, paths.map { ObjectPath(unchecked: $0) })
        let (atOnce, prompted) = try await callWithPrompt(message, prompting) { (reply) throws(SecretServiceError) in
            let (paths, prompt) = try reply.reading([ObjectPath].self, ObjectPath.self)
            return (paths, prompt: prompt)
        }
        return (atOnce + (try prompted?.paths() ?? [])).map(\.rawValue)
    }

    private static func path(_ text: String) throws(SecretServiceError) -> ObjectPath {
        guard let path = ObjectPath(text) else {
            throw SecretServiceError(.invalidArguments, "the text is not an object path")
        }
        return path
    }
}

/// The result of a search over all collections.
public struct SecretSearchResult: Hashable, Sendable {
    /// The unlocked items.
    public var unlocked: [SecretItem]

    /// The locked items, which need ``SecretObject/unlock(prompting:)`` first.
    ///
    /// They exist: a program that takes them for missing may overwrite what its user stored.
    public var locked: [SecretItem]

    /// All items, the unlocked ones first.
    public var all: [SecretItem] { unlocked + locked }
}

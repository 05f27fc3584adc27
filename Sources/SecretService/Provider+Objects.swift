import Authentication
import DBus
import Glibc
import KeychainModel
import Vault

/// Finding what a path names.
extension Provider {
    /// Has the object that a call is for answer it; if the vault is not open yet, or a key it needs is being derived, that waits
    /// first.
    func dispatch(_ call: MethodCall) throws(BusError) -> Dispatch {
        guard let path = call.withPath({ SecretPath(bytes: $0) }) else { throw notFound(call.path) }
        guard !isOpening, !isKeyDerived(for: call, at: path), !isBehindOthers(call, at: path) else {
            return try SettlingTarget(provider: self, path: path).dispatch(call)
        }
        return try dispatch(call, at: path)
    }

    /// Whether calls of the same caller that were made before it wait for a key still, or have just got it.
    private func isBehindOthers(_ call: MethodCall, at path: SecretPath) -> Bool {
        settling.contain(call.sender) && needsKey(call, at: path)
    }

    /// Throws what a call is told whatever is at its path, for which nothing has to be waited for.
    func check(_ call: MethodCall, at path: SecretPath) throws(BusError) {
        switch path {
        case .node: try NodeObject.kind.check(call)
        case .service: try ServiceObject.kind.check(call)
        case .collection: try CollectionObject.kind.check(call)
        case .item: try ItemObject.kind.check(call)
        case .session: try SessionObject.kind.check(call)
        case .prompt: try PromptObject.kind.check(call)
        case .audit: try AuditObject.kind.check(call)
        case .authentication: try AuthenticationObject.kind.check(call)
        case .backups: try BackupsObject.kind.check(call)
        case .context: try ContextObject.kind.check(call)
        }
    }

    /// Whether a key that the call needs is being derived.
    private func isKeyDerived(for call: MethodCall, at path: SecretPath) -> Bool {
        if case .item(let reference, _) = path { return find(reference)?.isAwaited ?? false }
        return collections(neededBy: call, at: path).contains(where: \.isAwaited)
    }

    /// Waits, for a bounded time, until a call can be answered rightly.
    func settle(_ path: SecretPath, for call: MethodCall) async {
        await waitUntilReady()
        await settle(collections(neededBy: call, at: path))
    }

    func dispatch(_ call: MethodCall, at path: SecretPath) throws(BusError) -> Dispatch {
        // As the callers are told whose answer does not come because the service leaves the bus.
        guard !hasEnded else { throw BusError(.noReply, "the service is ending") }
        switch path {
        case .node(let node):
            return try NodeObject.kind.dispatch(call, on: NodeObject(provider: self, node: node, caller: call.sender))
        case .service:
            return try ServiceObject.kind.dispatch(call, on: ServiceObject(provider: self, caller: call.sender))
        case .collection(let reference):
            guard let collection = find(reference) else { break }
            return try CollectionObject.kind.dispatch(
                call,
                on: CollectionObject(provider: self, collection: collection, caller: call.sender)
            )
        case .item(let reference, let id):
            guard let collection = find(reference), collection.contains(id) else { break }
            return try ItemObject.kind.dispatch(
                call,
                on: ItemObject(provider: self, collection: collection, id: id, caller: call.sender)
            )
        case .session(let number):
            guard let session = sessions.session(number, of: call.sender) else { break }
            return try SessionObject.kind.dispatch(call, on: SessionObject(provider: self, session: session))
        case .prompt(let number):
            guard let prompt = prompts.prompt(number, of: call.sender) else { break }
            return try PromptObject.kind.dispatch(call, on: PromptObject(prompt: prompt))
        case .audit:
            return try AuditObject.kind.dispatch(call, on: AuditObject(provider: self))
        case .authentication:
            return try AuthenticationObject.kind.dispatch(
                call,
                on: AuthenticationObject(provider: self, caller: call.sender)
            )
        case .backups:
            return try BackupsObject.kind.dispatch(call, on: BackupsObject(provider: self, caller: call.sender))
        case .context(let number):
            guard let context = contexts.context(number, of: call.sender) else {
                throw BusError(AuthenticationError(.invalidContext, reason: "there is no such context"))
            }
            return try ContextObject.kind.dispatch(call, on: ContextObject(provider: self, context: context))
        }
        throw notFound(call.path)
    }

    private func notFound(_ path: String) -> BusError {
        SecretPath.isInsideCollections(path)
            ? BusError(.noSuchObject, "there is no object at \(path)")
            : BusError(.unknownObject, "there is no object at \(path)")
    }

    /// Whether there are collections without whose keys a call could not be answered rightly.
    func needsKey(_ call: MethodCall, at path: SecretPath) -> Bool {
        switch path {
        case .collection, .item: true
        case .service where call.interface != StandardInterface.introspectable:
            !ServiceObject.membersThatNeedNoKey.contains(call.member)
        case .context: call.member == "Unlock" || call.member == "Authorize"
        case .service, .node, .session, .prompt, .audit, .authentication, .backups: false
        }
    }

    /// What a call could not be answered rightly without.
    private func collections(neededBy call: MethodCall, at path: SecretPath) -> [Collection] {
        switch path {
        case .collection(let reference), .item(let reference, _): find(reference).map { [$0] } ?? []
        default: needsKey(call, at: path) ? vault.collections : []
        }
    }

    // MARK: Collections and items

    var collectionPaths: [ObjectPath] {
        vault.collections.map { .collection($0.name) }
    }

    func find(_ reference: SecretPath.CollectionReference) -> Collection? {
        switch reference {
        case .name(let name): vault.collection(named: name)
        case .alias(let element):
            AliasElement.decodings(of: element).lazy.compactMap { self.vault.collection(forAlias: $0) }.first
        }
    }

    /// The aliases that lead somewhere.
    var aliases: [String] {
        let builtIn = ["default", "login", "session"]
        return Set(vault.aliases.keys).union(builtIn).filter { vault.collection(forAlias: $0) != nil }.sorted()
    }

    /// What a path names that can be locked: a collection, or an item in one.
    func findLockable(_ path: ObjectPath) -> (Collection, ItemID?)? {
        switch SecretPath(path) {
        case .collection(let reference):
            return find(reference).map { ($0, nil) }
        case .item(let reference, let id):
            guard let collection = find(reference), collection.contains(id) else { return nil }
            return (collection, id)
        default:
            return nil
        }
    }

    func findItem(_ path: ObjectPath) -> (Collection, ItemID)? {
        guard case .item(let reference, let id) = SecretPath(path), let collection = find(reference),
            collection.contains(id)
        else { return nil }
        return (collection, id)
    }

    // MARK: Callers' own

    /// Reads the path of a session of the caller's; `NoSession` for any other (#38, #41).
    func readSession(_ reader: inout Reader, of caller: String) throws(BusError) -> Session {
        let path = try reader.withObjectPath { path in
            SecretPath(bytes: UnsafeRawBufferPointer(start: path, count: strlen(path)))
        }
        guard case .session(let number) = path, let session = sessions.session(number, of: caller) else {
            throw BusError(.noSession, "there is no such session")
        }
        return session
    }

    /// Reads the one argument of SetSecret; the message's secret is overwritten, whether it is good or not.
    func readSecret(from call: MethodCall) throws(BusError) -> Secret {
        defer { call.message.wipeByteArrays() }
        var reader = call.message.makeReader()
        return try readSecret(&reader, from: call.sender)
    }

    /// Reads an `(oayays)` of the caller's.
    func readSecret(_ reader: inout Reader, from caller: String) throws(BusError) -> Secret {
        try reader.readStructure { (reader) throws(BusError) in
            let session = try readSession(&reader, of: caller)
            return try session.readSecret(&reader)
        }
    }

    /// Makes the object that the caller is to run.
    func makePrompt(_ action: any PromptAction, for caller: String) throws(BusError) -> ObjectPath {
        let prompt = Prompt(action, owner: caller, provider: self)
        try prompts.insert(prompt)
        return .prompt(prompt.number)
    }
}

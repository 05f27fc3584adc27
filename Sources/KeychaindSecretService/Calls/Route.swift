import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// A kind of objects: which of its calls need keys, what a program in a sandbox may call, and what answers.
///
/// ``SecretPath`` has the paths.
@BusActor
final class Route {
    /// Whether the reply depends on keys of collections.
    let needsKeys: (MethodCall) -> Bool

    /// Throws the error that a call gets for any object of the kind.
    let check: (MethodCall) throws(BusError) -> Void

    /// Lets the object at a path answer; nil if there is none, or none for the client.
    let answer: (SecretPath, MethodCall, Provider) throws(BusError) -> Dispatch?

    /// - Parameters:
    ///   - sandboxed: throws unless a program in a sandbox may make a call.
    ///   - dispatch: lets an object answer.
    ///   - find: the object at a path.
    private init<Object>(
        _ kind: ObjectKind<Object>,
        needsKeys: @escaping (MethodCall) -> Bool,
        sandboxed: @escaping (Object, MethodCall) throws(BusError) -> Void,
        dispatch: @escaping (Object, MethodCall) throws(BusError) -> Dispatch,
        _ find: @escaping (SecretPath, MethodCall, Provider) throws(BusError) -> Object?
    ) {
        self.needsKeys = needsKeys
        check = { (call) throws(BusError) in try kind.check(call) }
        answer = { (path, call, provider) throws(BusError) in
            guard let object = try find(path, call, provider) else { return nil }
            if call.client.view.isConfined { try sandboxed(object, call) }
            return try dispatch(object, call)
        }
    }

    private convenience init<Object>(
        _ kind: ObjectKind<Object>,
        needsKeys: @escaping (MethodCall) -> Bool = { _ in false },
        sandboxed: @escaping (Object, MethodCall) throws(BusError) -> Void = { _, _ in },
        _ find: @escaping (SecretPath, MethodCall, Provider) throws(BusError) -> Object?
    ) {
        let dispatch = { (object: Object, call: MethodCall) throws(BusError) in try kind.dispatch(call, on: object) }
        self.init(kind, needsKeys: needsKeys, sandboxed: sandboxed, dispatch: dispatch, find)
    }

    /// For one object that does not exist for programs in sandboxes.
    private convenience init<Object>(
        outside kind: ObjectKind<Object>,
        needsKeys members: Set<String> = [],
        _ make: @escaping (Client, Provider) -> Object
    ) {
        self.init(kind, needsKeys: { members.contains($0.member) }) { (_, call, provider) throws(BusError) in
            call.client.view.isConfined ? nil : make(call.client, provider)
        }
    }
}

// MARK: The table

extension Route {
    static func of(_ path: SecretPath) -> Route {
        switch path {
        case .item: item
        case .collection: collection
        case .service: service
        case .session: session
        case .prompt: prompt
        case .authentication: authentication
        case .context: context
        case .node: node
        case .audit: audit
        case .backups: backups
        case .portal: portal
        case .rules: rules
        case .sandboxes: sandboxes
        }
    }

    private static let item = Route(
        ItemObject.kind,
        needsKeys: { _ in true },
        sandboxed: { (object, call) throws(BusError) in
            if !call.client.mayChange(object.id, in: object.collection) { try SandboxGate.item.check(call) }
        },
        dispatch: { (object, call) throws(BusError) in try object.dispatch(call) },
        { (path, call, provider) throws(BusError) in
            guard case .item(let reference, let id) = path, let collection = provider.vault.find(reference),
                collection.contains(id), call.client.sees(id, in: collection)
            else { return nil }
            return ItemObject(
                items: provider.items,
                reads: provider.reads,
                collection: collection,
                id: id,
                client: call.client
            )
        }
    )

    private static let collection = Route(
        CollectionObject.kind,
        needsKeys: { _ in true },
        sandboxed: { (_, call) throws(BusError) in try SandboxGate.collection.check(call) },
        { (path, call, provider) throws(BusError) in
            guard case .collection(let reference) = path, let collection = provider.vault.find(reference),
                call.client.sees(collection)
            else { return nil }
            return CollectionObject(provider: provider, collection: collection, client: call.client)
        }
    )

    private static let service = Route(
        ServiceObject.kind,
        needsKeys: { call in
            !["OpenSession", "ReadAlias"].contains(call.member) && call.interface != StandardInterface.introspectable
        },
        sandboxed: { (_, call) throws(BusError) in try SandboxGate.service.check(call) },
        { (_, call, provider) throws(BusError) in ServiceObject(provider: provider, client: call.client) }
    )

    private static let session = Route(SessionObject.kind) { (path, call, _) throws(BusError) in
        guard case .session(let number) = path, let session = call.client.sessions[number] else { return nil }
        return SessionObject(session: session, client: call.client)
    }

    private static let prompt = Route(PromptObject.kind) { (path, call, _) throws(BusError) in
        guard case .prompt(let number) = path, let prompt = call.client.prompts[number] else { return nil }
        return PromptObject(prompt: prompt)
    }

    private static let authentication = Route(AuthenticationObject.kind) { (_, call, provider) throws(BusError) in
        AuthenticationObject(authenticator: provider.authenticator, client: call.client)
    }

    private static let context = Route(
        ContextObject.kind,
        needsKeys: { ["Authorize", "Unlock"].contains($0.member) },
        { (path, call, provider) throws(BusError) in
            guard case .context(let number) = path, let context = call.client.contexts[number] else {
                throw BusError(AuthenticationError(.invalidContext, reason: "there is no such context"))
            }
            return ContextObject(
                context: context,
                authenticator: provider.authenticator,
                unlocking: provider.unlocking
            )
        }
    )

    private static let node = Route(NodeObject.kind) { (path, call, provider) throws(BusError) in
        guard case .node(let node) = path else { return nil }
        return NodeObject(node: node, vault: provider.vault, client: call.client)
    }

    private static let audit = Route(outside: AuditObject.kind) { _, provider in
        AuditObject(audit: provider.audit, vault: provider.vault, largeAnswers: provider.largeAnswers)
    }

    private static let backups = Route(outside: BackupsObject.kind) { client, provider in
        BackupsObject(restorations: provider.restorations, client: client)
    }

    private static let portal = Route(outside: PortalObject.kind, needsKeys: ["Import", "Replace", "Undo"]) {
        PortalObject(provider: $1, client: $0)
    }

    private static let rules = Route(outside: RulesObject.kind) { RulesObject(provider: $1, client: $0) }

    private static let sandboxes = Route(outside: SandboxesObject.kind) { SandboxesObject(provider: $1, client: $0) }
}

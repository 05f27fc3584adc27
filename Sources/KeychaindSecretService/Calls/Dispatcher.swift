import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// Finds the object of a call and dispatches the call.
@BusActor
struct Dispatcher {
    /// The object of a path; an item may be missing from its collection.
    private enum Target {
        case node(SecretPath.Node)
        case service
        case collection(Collection)
        case item(ItemID, Collection)
        case session(Session)
        case prompt(Prompt)
        case audit
        case authentication
        case backups
        case portal
        case sandboxes
        case rules
        case context(AuthenticationContext)
    }

    let provider: Provider

    /// Dispatches a call, at once or after a wait.
    ///
    /// A call waits until the vault is open and its keys are derived, and behind earlier calls of its client that wait
    /// for a key.
    func dispatch(_ call: MethodCall) throws(BusError) -> Dispatch {
        guard let path = call.withPath({ SecretPath(bytes: $0) }) else { throw Dispatcher.notFound(call.path) }
        guard !call.client.view.isUndecided else { return try waitForView(for: call, at: path) }
        guard !provider.rules.awaitsCaller(of: call.client) else { return try waitForCaller(for: call, at: path) }
        let isBehindOthers = call.client.isWaitingForKey && Dispatcher.needsKey(call, at: path)
        guard !provider.readiness.isOpening, !isBehindOthers else { return try wait(for: call, at: path) }
        let target = try find(path, for: call)
        guard !isKeyAwaited(by: call, at: path, target) else { return try wait(for: call, at: path) }
        return try dispatch(call, on: target)
    }

    // MARK: Finding

    /// Returns the object of a path; throws if there is none, or none for the client.
    private func find(_ path: SecretPath, for call: MethodCall) throws(BusError) -> Target {
        let target = try findForAll(path, for: call)
        let isConfined = call.client.view.isConfined
        guard isConfined || provider.rules.hidesItems else { return target }
        let exists =
            switch target {
            case .item(let id, let collection): call.client.sees(id, in: collection)
            case .collection(let collection): call.client.sees(collection)
            case .audit, .backups, .portal, .sandboxes, .rules: !isConfined
            case .node, .service, .session, .prompt, .authentication, .context: true
            }
        guard exists else { throw Dispatcher.notFound(call.path) }
        if isConfined { try checkConfined(call, on: target) }
        return target
    }

    /// Throws unless a confined client may make a call to an object that it sees.
    private func checkConfined(_ call: MethodCall, on target: Target) throws(BusError) {
        switch target {
        case .service: try SandboxGate.checkService(call)
        case .collection: try SandboxGate.checkCollection(call)
        case .item(let id, let collection):
            if !call.client.mayChange(id, in: collection) { try SandboxGate.checkReading(call) }
        case .node, .session, .prompt, .authentication, .context: break
        case .audit, .backups, .portal, .sandboxes, .rules: throw Dispatcher.notFound(call.path)
        }
    }

    private func findForAll(_ path: SecretPath, for call: MethodCall) throws(BusError) -> Target {
        // Before the lookup, since a closed vault is empty.
        if let reason = provider.readiness.reasonOfEnd { throw reason }
        switch path {
        case .node(let node): return .node(node)
        case .service: return .service
        case .collection(let reference):
            if let collection = provider.vault.find(reference) { return .collection(collection) }
        case .item(let reference, let id):
            if let collection = provider.vault.find(reference) { return .item(id, collection) }
        case .session(let number):
            if let session = call.client.sessions[number] { return .session(session) }
        case .prompt(let number):
            if let prompt = call.client.prompts[number] { return .prompt(prompt) }
        case .audit: return .audit
        case .authentication: return .authentication
        case .backups: return .backups
        case .portal: return .portal
        case .sandboxes: return .sandboxes
        case .rules: return .rules
        case .context(let number):
            guard let context = call.client.contexts[number] else {
                throw BusError(AuthenticationError(.invalidContext, reason: "there is no such context"))
            }
            return .context(context)
        }
        throw Dispatcher.notFound(call.path)
    }

    private static func notFound(_ path: String) -> BusError {
        BusError(
            SecretPath.isInsideCollections(path) ? .noSuchObject : .unknownObject,
            "there is no object at \(path)"
        )
    }

    private func dispatch(_ call: MethodCall, on target: Target) throws(BusError) -> Dispatch {
        let client = call.client
        switch target {
        case .item(let id, let collection):
            guard collection.contains(id) else { throw Dispatcher.notFound(call.path) }
            let object = ItemObject(
                items: provider.items,
                reads: provider.reads,
                collection: collection,
                id: id,
                client: client
            )
            return try object.dispatch(call)
        case .collection(let collection):
            let object = CollectionObject(provider: provider, collection: collection, client: client)
            return try CollectionObject.kind.dispatch(call, on: object)
        case .service:
            return try ServiceObject.kind.dispatch(call, on: ServiceObject(provider: provider, client: client))
        case .session(let session):
            return try SessionObject.kind.dispatch(call, on: SessionObject(session: session, client: client))
        case .prompt(let prompt):
            return try PromptObject.kind.dispatch(call, on: PromptObject(prompt: prompt))
        case .audit:
            let object = AuditObject(audit: provider.audit, vault: provider.vault, largeAnswers: provider.largeAnswers)
            return try AuditObject.kind.dispatch(call, on: object)
        case .authentication:
            let object = AuthenticationObject(authenticator: provider.authenticator, client: client)
            return try AuthenticationObject.kind.dispatch(call, on: object)
        case .backups:
            let object = BackupsObject(restorations: provider.restorations, client: client)
            return try BackupsObject.kind.dispatch(call, on: object)
        case .portal:
            return try PortalObject.kind.dispatch(call, on: PortalObject(provider: provider, client: client))
        case .sandboxes:
            let object = SandboxesObject(provider: provider, client: client)
            return try SandboxesObject.kind.dispatch(call, on: object)
        case .rules:
            return try RulesObject.kind.dispatch(call, on: RulesObject(provider: provider, client: client))
        case .context(let context):
            let object = ContextObject(
                context: context,
                authenticator: provider.authenticator,
                unlocking: provider.unlocking,
                largeAnswers: provider.largeAnswers
            )
            return try ContextObject.kind.dispatch(call, on: object)
        case .node(let node):
            let object = NodeObject(node: node, vault: provider.vault, client: client)
            return try NodeObject.kind.dispatch(call, on: object)
        }
    }

    // MARK: Waiting

    /// Waits until it is known which objects exist for the client, then dispatches.
    private func waitForView(for call: MethodCall, at path: SecretPath) throws(BusError) -> Dispatch {
        try dispatch(call, at: path) { await call.client.decideView() }
    }

    /// Waits until it is known which rules are about the client, then dispatches.
    private func waitForCaller(for call: MethodCall, at path: SecretPath) throws(BusError) -> Dispatch {
        try dispatch(call, at: path) { await provider.rules.look(at: call.client) }
    }

    /// Throws errors that do not depend on the object; otherwise waits, then dispatches from the beginning.
    private func dispatch(
        _ call: MethodCall,
        at path: SecretPath,
        after wait: @escaping @BusActor () async -> Void
    ) throws(BusError) -> Dispatch {
        try Dispatcher.check(call, at: path)
        return .suspending { () async throws(BusError) in
            await wait()
            try call.client.checkConnected()
            try await dispatch(call).finish()
        }
    }

    /// Throws errors that do not depend on the object; otherwise waits for the vault and its keys, then dispatches.
    private func wait(for call: MethodCall, at path: SecretPath) throws(BusError) -> Dispatch {
        try Dispatcher.check(call, at: path)
        return .suspending { () async throws(BusError) in try await dispatchLater(call, at: path).finish() }
    }

    /// Dispatches a call in order; its own waiting then delays no later call.
    private func dispatchLater(_ call: MethodCall, at path: SecretPath) async throws(BusError) -> Dispatch {
        let answer = { () throws(BusError) in try dispatch(call, on: try find(path, for: call)) }
        guard Dispatcher.needsKey(call, at: path) else {
            await provider.readiness.waitUntilOpen()
            await lookAtCaller(of: call)
            try call.client.checkConnected()
            return try answer()
        }
        return try await call.client.afterWaiting(
            {
                await provider.readiness.waitForKeys { collections(neededAt: path) }
                await lookAtCaller(of: call)
            },
            answer
        )
    }

    /// Waits until it is known which rules are about the client: the vault had none before it was open.
    private func lookAtCaller(of call: MethodCall) async {
        if provider.rules.awaitsCaller(of: call.client) { await provider.rules.look(at: call.client) }
    }

    private func isKeyAwaited(by call: MethodCall, at path: SecretPath, _ target: Target) -> Bool {
        switch target {
        case .item(_, let collection), .collection(let collection): collection.isAwaited
        default: Dispatcher.needsKey(call, at: path) && provider.vault.collections.contains(where: \.isAwaited)
        }
    }

    private func collections(neededAt path: SecretPath) -> [Collection] {
        switch path {
        case .collection(let reference), .item(let reference, _): provider.vault.find(reference).map { [$0] } ?? []
        default: provider.vault.collections
        }
    }

    /// Whether the reply depends on collection keys.
    private static func needsKey(_ call: MethodCall, at path: SecretPath) -> Bool {
        switch path {
        case .collection, .item: true
        case .service where call.interface != StandardInterface.introspectable:
            !ServiceObject.membersThatNeedNoKey.contains(call.member)
        case .portal: ["Import", "Replace", "Undo"].contains(call.member)
        case .context: call.member == "Unlock" || call.member == "Authorize"
        case .service, .node, .session, .prompt, .audit, .authentication, .backups, .sandboxes, .rules: false
        }
    }

    private static func check(_ call: MethodCall, at path: SecretPath) throws(BusError) {
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
        case .portal: try PortalObject.kind.check(call)
        case .sandboxes: try SandboxesObject.kind.check(call)
        case .rules: try RulesObject.kind.check(call)
        case .context: try ContextObject.kind.check(call)
        }
    }
}

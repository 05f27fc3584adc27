import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindVault
import Logging

/// Unlocks objects for a client, at once or by a prompt.
@BusActor
struct Unlocking {
    let vault: Vault
    let access: ItemAccess
    let unlocker: Unlocker
    let authenticator: Authenticator
    let limits: ServiceLimits
    let logger: Logger

    /// Reads a list of object paths; throws `LimitsExceeded` if it is too long.
    func readObjects(_ reader: inout Reader) throws(BusError) -> [ObjectPath] {
        try [ObjectPath](from: &reader, limit: limits.objectsPerCall)
    }

    /// Reads a list of object paths; nil if it is so long that it takes slices of time.
    func readFewObjects(_ reader: inout Reader) throws(BusError) -> [ObjectPath]? {
        var elements = try reader.beginArray()
        var paths: [ObjectPath] = []
        while !elements.isAtEnd {
            guard paths.count < limits.objectsPerCall else { throw Reader.tooMany(limits.objectsPerCall) }
            guard paths.count < limits.objectsAtOnce else { return nil }
            paths.append(try ObjectPath(from: &elements))
        }
        return paths
    }

    /// Returns the unlocked objects, and a prompt for the others.
    ///
    /// Paths are returned as the client spelled them (#70). Unknown objects (#76) and those that cannot be unlocked are
    /// skipped.
    ///
    /// - Parameters:
    ///   - action: the operation; anything but `use` needs a context.
    ///   - context: supplies the settings of the prompt and keeps the proof.
    func unlock(
        _ paths: [ObjectPath],
        to action: ItemAction = .use,
        for client: Client,
        in context: AuthenticationContext? = nil
    ) throws(BusError) -> (unlocked: [ObjectPath], prompt: ObjectPath) {
        var objects = SortedObjects()
        for path in paths { sort(path, into: &objects, to: action, for: client, in: context) }
        return try finish(objects, to: action, for: client, in: context)
    }

    /// Answers an Unlock of many objects, while other calls are handled.
    func unlockMany(_ call: MethodCall, for client: Client, _ slice: inout TimeSlice) async throws(BusError) {
        var writer = call.beginReply()
        let unlocked = writer.beginArray(of: ObjectPath.signature)
        var objects = SortedObjects()
        var reader = call.message.makeReader()
        var elements = try reader.beginArray()
        var count = 0
        while !elements.isAtEnd {
            await slice.yieldIfOver()
            try client.checkConnected()
            guard count < limits.objectsPerCall else { throw Reader.tooMany(limits.objectsPerCall) }
            count += 1
            sort(try ObjectPath(from: &elements), into: &objects, to: .use, for: client, in: nil)
            objects.unlocked.forEach { $0.write(to: &writer) }
            objects.unlocked.removeAll(keepingCapacity: true)
        }
        writer.end(unlocked)
        await slice.yield()
        try client.checkConnected()
        try finish(objects, to: .use, for: client, in: nil).prompt.write(to: &writer)
        call.reply(written: writer)
    }

    /// Requested objects by what unlocking them takes.
    private struct SortedObjects {
        var unlocked: [ObjectPath] = []
        var locked: [UnlockPrompt.Request] = []
        var unreadable: [CollectionName: String] = [:]
    }

    private func sort(
        _ path: ObjectPath,
        into objects: inout SortedObjects,
        to action: ItemAction,
        for client: Client,
        in context: AuthenticationContext?
    ) {
        guard let (collection, item) = client.findLockable(path, in: vault) else { return }
        // Nobody is asked for what a rule refuses anyway.
        if let item, access.isForbidden(item, in: collection, for: client) { return }
        switch collection.state {
        case .unreadable(let reason):
            // The next Unlock finds it.
            if vault.hasReturned(collection) { BusActor.start { await unlocker.collections.takeUp(collection) } }
            objects.unreadable[collection.name] = reason
            return
        case .unlocked:
            guard let item, !isAllowed(action, item, in: collection, for: client, context) else {
                objects.unlocked.append(path)
                return
            }
            if case .unavailable = access.verdict(on: item, in: collection, for: client) { return }
        case .vacant, .locked, .unlocking:
            break
        }
        objects.locked.append(UnlockPrompt.Request(path: path, collection: collection, item: item))
    }

    private func finish(
        _ objects: SortedObjects,
        to action: ItemAction,
        for client: Client,
        in context: AuthenticationContext?
    ) throws(BusError) -> (unlocked: [ObjectPath], prompt: ObjectPath) {
        objects.unreadable.forEach(logUnreadable)
        guard !objects.locked.isEmpty, context?.settings.allowsInteraction != false else {
            return (objects.unlocked, .root)
        }
        let prompt = UnlockPrompt(objects.locked, to: action, for: client, in: context, unlocking: self)
        return (objects.unlocked, try client.makePrompt(prompt))
    }

    /// Whether a client may perform an action on an item without asking a person.
    func isAllowed(
        _ action: ItemAction,
        _ id: ItemID,
        in collection: Collection,
        for client: Client,
        _ context: AuthenticationContext?
    ) -> Bool {
        switch access.verdict(on: id, in: collection, for: client) {
        case .open: true
        case .granted where action == .use: true
        // A rule is about reading.
        case .needsConfirmation: action != .use
        case .granted, .needsAuthentication:
            action != .use && context?.allows(action.parts, of: ItemReference(id, in: collection)) == true
        case .unavailable: false
        }
    }

    /// Grants the items for which the proof and the application password of a context suffice.
    ///
    /// ``unlock(_:to:for:in:)`` serves the others, except those for which the password is wrong.
    ///
    /// - Returns: the paths of the latter.
    func grantProved(_ paths: [ObjectPath], in context: AuthenticationContext) async -> [ObjectPath] {
        let used = context.useProof()
        guard used != nil || context.hasCredential else { return [] }
        let (proof, reuse) = used ?? (.none, context.settings.grantReuse)
        let endings = context.endings
        var refused: [ObjectPath] = []
        for path in paths {
            guard let (collection, id) = context.client.findItem(path, in: vault),
                case .needsAuthentication(let policy) = access.verdict(on: id, in: collection, for: context.client)
            else { continue }
            let item = ProtectedItem(id: id, collection: collection, policy: policy)
            let requirement = await item.requirement(with: authenticator.biometry, in: vault)
            var key: ItemKey?
            if proof.satisfies(requirement) {
                if item.isSealed {
                    // Fails for a collection with its own password that was never unlocked beside `login`.
                    guard let opened = try? await collection.itemKey(of: id, passcode: proof.passcode) else { continue }
                    key = opened
                }
            } else if policy.factors.contains(.applicationPassword),
                proof.satisfies(requirement, with: .applicationPassword), let credential = context.credentialCopy
            {
                let verifier = CredentialVerifier(of: item, passcode: proof.passcode)
                let lockout = authenticator.lockouts.keeper(ofItem: id, in: collection)
                let isRight = await lockout.attempt(credential, on: verifier) == .right
                let outcome: EvaluationOutcome =
                    isRight
                    ? .satisfied(Proofs(factors: .applicationPassword, keys: .applicationPassword))
                    : .failed(AuthenticationError(.authenticationFailed, reason: "the password of a program is wrong"))
                authenticator.audit.authenticated(to: .use, id, in: collection, for: context.caller, outcome)
                guard let opened = verifier.key else {
                    refused.append(path)
                    continue
                }
                key = opened
            } else {
                continue
            }
            guard context.endings == endings else { continue }
            access.grant(item, to: context.client, context.caller, for: reuse, key: key)
        }
        return refused
    }

    /// Authorises one change of each item for which the proof of a context suffices, as an evaluation's dialog
    /// announced; ``unlock(_:to:for:in:)`` serves the others.
    func authorizeProved(_ paths: [ObjectPath], in context: AuthenticationContext) async {
        guard let proof = context.proofForChanges else { return }
        let endings = context.endings
        for path in paths {
            guard let (collection, id) = context.client.findItem(path, in: vault),
                !isAllowed(.change, id, in: collection, for: context.client, context),
                let item = changeableItem(id, in: collection, for: context.client),
                proof.satisfies(await item.requirement(with: authenticator.biometry, in: vault))
            else { continue }
            var key: ItemKey?
            if item.isSealed {
                guard let opened = try? await collection.itemKey(of: id, passcode: proof.passcode) else { continue }
                key = opened
            }
            guard context.endings == endings, access.isUnchanged(item) else { continue }
            context.keep(ItemAuthorization(item: item, key: key, parts: ItemAction.change.parts, context: context))
        }
    }

    /// A protected item that the client could change after an authentication.
    private func changeableItem(_ id: ItemID, in collection: Collection, for client: Client) -> ProtectedItem? {
        let policy: Policy?
        switch access.verdict(on: id, in: collection, for: client) {
        case .needsAuthentication(let needed): policy = needed
        case .granted: policy = collection.protection(of: id).policy
        case .open, .needsConfirmation, .unavailable: policy = nil
        }
        return policy.map { ProtectedItem(id: id, collection: collection, policy: $0) }
    }

    private func logUnreadable(_ name: CollectionName, reason: String) {
        logger.error(
            "Cannot read a keychain; its file is kept as it is",
            metadata: ["keychain": "\(name)", "reason": "\(reason)"]
        )
    }
}

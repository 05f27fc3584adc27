import KeychaindDBus
import KeychaindModel
import KeychaindVault

extension ServiceObject {
    @BusActor static let sessionMethods: [Method<ServiceObject>] = [
        Method(
            "OpenSession",
            in: [Parameter("algorithm", String.self), Parameter("input", Variant.self)],
            out: [Parameter("output", Variant.self), Parameter("result", ObjectPath.self)]
        ) { (object, call) throws(BusError) in
            try object.openSession(call)
        },
        Method(
            deciding: "GetSecrets",
            in: [Parameter("items", [ObjectPath].self), Parameter("session", ObjectPath.self)],
            out: [Parameter("secrets", signature: SecretBatch.signature)]
        ) { (object, call) throws(BusError) in
            try object.getSecrets(call)
        },
    ]

    @BusActor
    private func openSession(_ call: MethodCall) throws(BusError) {
        var reader = call.message.makeReader()
        let name = try String(from: &reader)
        guard let algorithm = SessionAlgorithm(rawValue: name) else {
            // Clients try another algorithm after this error only (#20).
            throw BusError(.notSupported, "the algorithm '\(name)' is not supported")
        }
        // Checked before the key agreement, which costs most.
        try client.checkRoomForSession()
        let agreement = try algorithm.negotiate(&reader)
        client.insert(agreement.session)
        call.reply(with: agreement.output, agreement.session.path)
    }

    @BusActor
    private func getSecrets(_ call: MethodCall) throws(BusError) -> Dispatch {
        // The session is read first: the list may be long.
        var rest = call.message.makeReader()
        rest.skip()
        _ = try client.readSession(&rest)
        var reader = call.message.makeReader()
        let requested = try provider.unlocking.readObjects(&reader)
        var seen = Set<ObjectPath>(minimumCapacity: requested.count)
        let paths = requested.filter { seen.insert($0).inserted }
        // Of several, each might show a dialog: a program that lists a keychain reads all of it.
        if paths.count == 1, let (collection, id) = client.findItem(paths[0], in: provider.vault),
            provider.reads.areUseful(for: call, reading: id, in: collection)
        {
            return .suspending { () async throws(BusError) in
                await provider.reads.ask(for: id, in: collection, by: client)
                try client.checkConnected()
                if case .suspending(let body) = try answerSecrets(call, of: paths) { try await body() }
            }
        }
        return try answerSecrets(call, of: paths)
    }

    @BusActor
    private func answerSecrets(_ call: MethodCall, of paths: [ObjectPath]) throws(BusError) -> Dispatch {
        var reader = call.message.makeReader()
        reader.skip()
        let session = try client.readSession(&reader)
        return try readSecrets(of: paths.compactMap(wanted), in: session, paths: { paths }) { batch in
            call.reply { batch.write(to: &$0) }
        }
    }

    /// Reads and releases the accessible secrets of different items, then answers with them.
    @BusActor
    func readSecrets(
        of items: [FoundItem],
        in session: Session,
        answer: @escaping @BusActor (SecretBatch) -> Void
    ) throws(BusError) -> Dispatch {
        let readable = items.compactMap { item in wanted(item.path, item.id, in: item.collection) }
        return try readSecrets(of: readable, in: session, paths: { items.map(\.path) }, answer: answer)
    }

    /// - Parameter paths: the paths of the items, which are looked up again if secrets are on the disk.
    @BusActor
    private func readSecrets(
        of items: [WantedItem],
        in session: Session,
        paths: () -> [ObjectPath],
        answer: @escaping @BusActor (SecretBatch) -> Void
    ) throws(BusError) -> Dispatch {
        var batch = SecretBatch(session: session, limit: provider.limits.secretBytesPerReply)
        for item in items {
            switch resident(item) {
            case .secret(let secret): try batch.add(secret, of: item.path)
            case .stored:
                let paths = paths()
                return .suspending { () async throws(BusError) in try await readStored(paths, session, answer) }
            case .withheld: break
            case .unavailable: provider.changes.problemMayHaveChanged(item.collection)
            }
        }
        // The access decisions still hold: nothing was awaited since.
        let granted = provider.rules.isActive ? items : items.filter { $0.grant != nil }
        if !granted.isEmpty { release(granted, from: &batch) }
        answer(batch)
        return .answered
    }

    /// Maximum number of reads when secrets keep changing.
    private static let readings = 3

    /// Sends secrets that are read from disk first.
    ///
    /// Starts over, so that no secret is held while the call waits.
    @BusActor
    private func readStored(
        _ paths: [ObjectPath],
        _ session: Session,
        _ answer: @escaping @BusActor (SecretBatch) -> Void
    ) async throws(BusError) {
        try await provider.largeAnswers.make(for: client) { () async throws(BusError) in
            for reading in 1...ServiceObject.readings {
                var batch = SecretBatch(session: session, limit: provider.limits.secretBytesPerReply)
                let items = try await read(paths, into: &batch)
                // After the last read, changed items are left out.
                let changed = items.filter { item in
                    item.revision.map { !item.collection.hasSecret(of: $0) } ?? true
                }
                guard changed.isEmpty || reading == ServiceObject.readings else { continue }
                batch.remove(Set(changed.map(\.path)))
                release(items, from: &batch)
                return answer(batch)
            }
        }
    }

    /// Reads the accessible secrets, each after an access check.
    @BusActor
    private func read(_ paths: [ObjectPath], into batch: inout SecretBatch) async throws(BusError) -> [WantedItem] {
        var items: [WantedItem] = []
        for path in paths {
            guard var item = wanted(path), let revision = item.collection.revision(of: item.id) else { continue }
            item.revision = revision
            let secret: Secret
            do throws(VaultError) {
                secret = try await item.collection.storedSecret(of: revision, with: item.grant?.key)
            } catch {
                provider.changes.problemMayHaveChanged(item.collection)
                // A changed item is read again.
                if error.code == .busy { items.append(item) }
                continue
            }
            if secret.isReleasable { try batch.add(secret, of: path) }
            items.append(item)
        }
        return items
    }

    /// Checks access again, uses and audits the grants, and removes secrets that may no longer be sent.
    ///
    /// A grant may have ended meanwhile, or allow one release of an item requested under two paths.
    @BusActor
    private func release(_ items: [WantedItem], from batch: inout SecretBatch) {
        let added = Set(batch.paths)
        var lost: Set<ObjectPath> = []
        for item in items where added.contains(item.path) {
            let isReleased = (try? provider.access.release(item.id, in: item.collection, to: client)) != nil
            if !isReleased { lost.insert(item.path) }
        }
        if !lost.isEmpty { batch.remove(lost) }
    }

    /// An item that the client may read, under the requested path.
    private struct WantedItem {
        let path: ObjectPath
        let collection: Collection
        let id: ItemID
        let grant: ItemGrant?
        /// The state that access was checked for; nil if nothing is awaited.
        var revision: ItemRevision?
    }

    /// The item, if the client may read it; locked and missing ones are left out of the reply (#81).
    @BusActor
    private func wanted(_ path: ObjectPath) -> WantedItem? {
        guard let (collection, id) = client.findItem(path, in: provider.vault) else { return nil }
        return wanted(path, id, in: collection)
    }

    @BusActor
    private func wanted(_ path: ObjectPath, _ id: ItemID, in collection: Collection) -> WantedItem? {
        do throws(BusError) {
            let permission = try provider.access.authorize(id, in: collection, for: client)
            return WantedItem(path: path, collection: collection, id: id, grant: permission.grant)
        } catch {
            return nil
        }
    }

    /// The secret, if it is in memory and intact.
    private func resident(_ item: WantedItem) -> ResidentSecret {
        do throws(VaultError) {
            guard let secret = try item.collection.secret(of: item.id, under: item.grant) else { return .stored }
            return secret.isReleasable ? .secret(secret) : .withheld
        } catch {
            return .unavailable
        }
    }

    private enum ResidentSecret: ~Copyable {
        case secret(Secret)
        case stored
        /// A key that is used but never released, or a portal secret.
        case withheld
        case unavailable
    }
}

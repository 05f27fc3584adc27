import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// Reading the secrets of several items for one reply.
extension ServiceObject {
    /// An item that the client may read, under the requested path.
    struct WantedItem {
        let path: ObjectPath
        let collection: Collection
        let id: ItemID
        let grant: ItemGrant?
    }

    /// The item, if the client may read it; locked and missing ones are left out of the reply (#81).
    @BusActor
    func wanted(_ path: ObjectPath) -> WantedItem? {
        guard let (collection, id) = client.findItem(path, in: provider.vault) else { return nil }
        return wanted(path, id, in: collection)
    }

    @BusActor
    func wanted(_ item: FoundItem) -> WantedItem? {
        wanted(item.path, item.id, in: item.collection)
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

    // MARK: In memory

    /// Reads and releases the secrets of different items; nil if one is on the disk.
    @BusActor
    func residentSecrets(of items: [WantedItem], in session: Session) throws(BusError) -> SecretBatch? {
        var batch = SecretBatch(session: session, limit: provider.limits.secretBytesPerReply)
        for item in items {
            switch resident(item) {
            case .secret(let secret): try batch.add(secret, of: item.path)
            case .stored: return nil
            case .withheld: break
            case .unavailable: provider.changes.problemMayHaveChanged(item.collection)
            }
        }
        // The access decisions still hold: nothing was awaited since.
        let granted = provider.rules.isActive ? items : items.filter { $0.grant != nil }
        if !granted.isEmpty { release(granted, from: &batch) }
        return batch
    }

    /// Uses and audits the grants, and removes the secrets of items whose grant has ended.
    ///
    /// A grant may allow one release of an item that was requested under two paths.
    @BusActor
    private func release(_ items: [WantedItem], from batch: inout SecretBatch) {
        let added = Set(batch.paths)
        var lost: Set<ObjectPath> = []
        for item in items where added.contains(item.path) {
            if !release(item) { lost.insert(item.path) }
        }
        if !lost.isEmpty { batch.remove(lost) }
    }

    /// Checks access again, and uses and audits a grant; false if access has ended.
    @BusActor
    private func release(_ item: WantedItem) -> Bool {
        (try? provider.access.release(item.id, in: item.collection, to: client)) != nil
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

    // MARK: Many, or on the disk

    /// Maximum number of reads of a secret that keeps changing.
    private static let readings = 3

    /// A secret in a reply that is being written.
    private struct WrittenSecret {
        let item: WantedItem
        let revision: ItemRevision
        /// The number of the request.
        let request: Int
    }

    /// Reads and releases the secrets of items, and replies with them.
    @BusActor
    func sendSecrets(
        of paths: [ObjectPath],
        in session: Session,
        answering call: MethodCall
    ) async throws(BusError) {
        var first: [ObjectPath: Int] = [:]
        let find: (Int) -> WantedItem? = { request in
            let path = paths[request]
            if let other = first.updateValue(request, forKey: path), other < request {
                first[path] = other
                return nil
            }
            return wanted(path)
        }
        try await sendSecrets(paths.count, find, in: session, answering: call)
    }

    /// Reads and releases the secrets of items, and replies with them, after what a search found.
    ///
    /// Other calls are handled in between, so what is written is checked before it is sent: secrets that have changed
    /// are read again, and those that the client may no longer read are removed.
    ///
    /// - Parameters:
    ///   - count: the number of requested items.
    ///   - find: looks up a requested item.
    @BusActor
    func sendSecrets(
        _ count: Int,
        _ find: (Int) -> WantedItem?,
        after found: FoundItems? = nil,
        in session: Session,
        answering call: MethodCall
    ) async throws(BusError) {
        try await provider.largeAnswers.make(for: client) { () async throws(BusError) in
            var slice = provider.largeAnswers.beginSlice()
            var writer = call.beginReply()
            try await found?.write(to: &writer, &slice, upTo: provider.limits.itemBytesPerReply)
            var secrets = writer.beginArray(of: SecretBatch.entrySignature)
            var written: [WrittenSecret] = []
            var requests = Array(0..<count)
            for reading in 1...ServiceObject.readings {
                var changed: [Int] = []
                for request in requests {
                    await slice.yieldIfOver()
                    try client.checkConnected()
                    guard let item = find(request), let revision = item.collection.revision(of: item.id) else {
                        continue
                    }
                    let secret: Secret
                    do throws(VaultError) {
                        secret = try await item.collection.storedSecret(of: revision, with: item.grant?.key)
                    } catch {
                        provider.changes.problemMayHaveChanged(item.collection)
                        if error.code == .busy { changed.append(request) }
                        continue
                    }
                    guard secret.isReleasable else { continue }
                    let encoded = try session.encode(secret)
                    writer.write(in: &secrets) { writer in SecretBatch.write(encoded, of: item.path, to: &writer) }
                    guard writer.byteCount(of: secrets) <= provider.limits.secretBytesPerReply else {
                        throw SecretBatch.tooLarge(provider.limits.secretBytesPerReply)
                    }
                    written.append(WrittenSecret(item: item, revision: revision, request: request))
                }
                let stale = written.indices.filter { !written[$0].item.collection.hasSecret(of: written[$0].revision) }
                requests = changed + stale.map { written[$0].request }
                remove(Set(stale), from: &secrets, &written, &writer)
                if requests.isEmpty || reading == ServiceObject.readings { break }
            }
            let lost = written.indices.filter { !mayStillRead(written[$0].item) }
            remove(Set(lost), from: &secrets, &written, &writer)
            writer.end(secrets)
            call.reply(written: writer)
        }
    }

    @BusActor
    private func remove(
        _ numbers: Set<Int>,
        from secrets: inout Writer.OpenArray,
        _ written: inout [WrittenSecret],
        _ writer: inout Writer
    ) {
        guard !numbers.isEmpty else { return }
        writer.remove(numbers, from: &secrets)
        written = written.indices.lazy.filter { !numbers.contains($0) }.map { written[$0] }
    }

    /// Whether the client may read an item now as when it was written; uses and audits a grant.
    @BusActor
    private func mayStillRead(_ item: WantedItem) -> Bool {
        // What a program in a sandbox sees may have changed, too.
        client.sees(item.id, in: item.collection) && (!mustRelease(item) || release(item))
    }

    /// Whether access to an item may have ended since it was read, or a grant or a rule is audited.
    @BusActor
    private func mustRelease(_ item: WantedItem) -> Bool {
        let collection = item.collection
        return item.grant != nil || provider.rules.isActive || collection.isLocked || collection.hasProtectedItems
            || collection.hasProblem
    }
}

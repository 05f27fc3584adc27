import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// Reading the secrets of several items for one reply.
extension ServiceObject {
    /// The item, if the client may read it; locked and missing ones are left out of the reply (#81).
    @BusActor
    func wanted(_ path: ObjectPath) -> WantedItem? {
        guard let (collection, id) = client.findItem(path, in: provider.vault) else { return nil }
        return wanted(path, id, in: collection)
    }

    @BusActor
    func wanted(_ id: ItemID, in collection: Collection) -> WantedItem? {
        wanted(.item(id, in: collection.name), id, in: collection)
    }

    @BusActor
    private func wanted(_ path: ObjectPath, _ id: ItemID, in collection: Collection) -> WantedItem? {
        do throws(BusError) {
            let permission = try provider.access.authorize(id, in: collection, for: client, isFound: true)
            return WantedItem(path: path, item: ReadableItem(collection: collection, id: id, grant: permission.grant))
        } catch {
            return nil
        }
    }

    // MARK: In memory

    /// Writes the secrets of different items; false if one is on the disk, or a release may have to be audited.
    @BusActor
    func writeResidentSecrets(
        of items: [WantedItem],
        in session: Session,
        to writer: inout Writer
    ) throws(BusError) -> Bool {
        guard !provider.rules.isActive, items.allSatisfy({ wanted in wanted.item.grant == nil }) else { return false }
        var secrets = WrittenSecrets(in: &writer, upTo: provider.limits.secretBytesPerReply)
        for (number, wanted) in items.enumerated() {
            guard let revision = wanted.item.collection.revision(of: wanted.item.id) else { continue }
            switch resident(wanted.item) {
            case .secret(let secret):
                try secrets.add(wanted, revision, number, try session.encode(secret), to: &writer)
            case .stored: return false
            case .withheld: break
            case .unavailable: provider.changes.problemMayHaveChanged(wanted.item.collection)
            }
        }
        // The access decisions still hold: nothing was awaited since.
        secrets.end(in: &writer)
        return true
    }

    /// The secret, if it is in memory and intact.
    @BusActor
    private func resident(_ item: ReadableItem) -> ResidentSecret {
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

    // MARK: On the disk, or audited

    /// Maximum number of reads of a secret that keeps changing; the last one counts.
    private static let readings = 3

    /// Reads and releases the secrets of items, and replies with them.
    ///
    /// Other calls are handled while the disk is waited for, so what is written is checked before it is sent: secrets
    /// that have changed are read again, and those that the client may no longer read are removed. Throws
    /// `AccessDenied` if a person has limited the program meanwhile, or rules hide items from it, since what was
    /// written before the secrets may be others'.
    ///
    /// - Parameter begin: called in the turn of the client; returns the items, and may write what comes before the
    ///   secrets.
    @BusActor
    func sendSecrets(
        in session: Session,
        answering call: MethodCall,
        _ begin: @BusActor (inout Writer) throws(BusError) -> [WantedItem]
    ) async throws(BusError) {
        if provider.rules.isActive {
            // Else the audit would wait for the name of the caller.
            _ = await client.caller()
            try client.checkConnected()
        }
        try await provider.largeAnswers.make(for: client) { () async throws(BusError) in
            let sight = client.sight
            var writer = call.beginReply()
            let items = try begin(&writer)
            var secrets = WrittenSecrets(in: &writer, upTo: provider.limits.secretBytesPerReply)
            let check = ReadCheck(client: client, access: provider.access)
            var numbers = Array(items.indices)
            for reading in 1...ServiceObject.readings {
                var changed: [Int] = []
                for number in numbers {
                    try client.checkConnected()
                    // Not the decision of before, which may have changed.
                    guard let wanted = reading == 1 ? items[number] : wanted(items[number].path),
                        case let item = wanted.item, let revision = item.collection.revision(of: item.id)
                    else { continue }
                    let secret: Secret
                    do throws(VaultError) {
                        secret = try await item.collection.storedSecret(of: revision, with: item.grant?.key)
                    } catch {
                        provider.changes.problemMayHaveChanged(item.collection)
                        if error.code == .busy { changed.append(number) }
                        continue
                    }
                    guard secret.isReleasable else { continue }
                    try secrets.add(wanted, revision, number, try session.encode(secret), to: &writer)
                }
                let isLast = reading == ServiceObject.readings
                numbers = changed + secrets.removeOutdated(from: &writer, check, keepsChanged: isLast)
                try client.checkConnected()
                if numbers.isEmpty || isLast { break }
            }
            // Between the last check and the reply, only the disk is waited for.
            secrets.useGrants(in: &writer, check)
            if secrets.areAudited {
                try await provider.access.syncAudit(for: client)
                guard secrets.areCurrent(for: client) else { throw ItemAccess.hasEnded }
            }
            try client.check(sight)
            secrets.end(in: &writer)
            call.reply(written: writer)
        }
    }
}

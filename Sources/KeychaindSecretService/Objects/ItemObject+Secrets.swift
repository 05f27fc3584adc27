import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// Reading and writing the secret of an item.
extension ItemObject {
    @BusActor
    func getSecret(_ call: MethodCall) throws(BusError) -> Dispatch {
        var reader = call.message.makeReader()
        // Read before a dialog opens for a call that cannot be answered.
        let session = try client.sessions.read(&reader)
        guard !reads.areUseful(for: call, reading: id, in: collection) else {
            return .suspending { () async throws(BusError) in
                await reads.ask(for: id, in: collection, by: client)
                try client.checkConnected()
                var reader = call.message.makeReader()
                try await answerSecret(call, in: client.sessions.read(&reader)).finish()
            }
        }
        return try answerSecret(call, in: session, isFound: true)
    }

    /// - Parameter isFound: whether nothing was awaited since the item was found for the client.
    @BusActor
    private func answerSecret(
        _ call: MethodCall,
        in session: Session,
        isFound: Bool = false
    ) throws(BusError) -> Dispatch {
        let permission = try items.access.authorize(id, in: collection, for: client, isFound: isFound)
        let secret: Secret?
        do throws(VaultError) {
            secret = try collection.secret(of: id, under: permission.grant)
        } catch {
            throw failure(error)
        }
        guard let secret else {
            return .suspending { () async throws(BusError) in
                try await items.largeAnswers.make(for: client) { () async throws(BusError) in
                    try await getStored(call, in: session)
                }
            }
        }
        try secret.checkReleasable()
        guard !permission.isAudited else {
            return .suspending { () async throws(BusError) in try await getStored(call, in: session) }
        }
        try session.encode(secret).answer(call)
        return .answered
    }

    /// Maximum number of reads of a secret that keeps changing.
    private static let readings = 3

    /// Sends a secret that is read from disk first, or whose release is audited: once that is on the disk.
    ///
    /// Access is checked before the read and again before the reply; a change in between repeats both.
    @BusActor
    private func getStored(_ call: MethodCall, in session: Session) async throws(BusError) {
        // Else the audit would wait for the name of the caller.
        if items.access.rules.isActive { _ = await client.caller() }
        try client.checkConnected()
        for _ in 0..<ItemObject.readings {
            let permission = try items.access.authorize(id, in: collection, for: client)
            guard let revision = collection.revision(of: id) else { break }
            let secret: Secret
            do throws(VaultError) {
                secret = try await collection.storedSecret(of: revision, with: permission.grant?.key)
            } catch  where error.code == .busy {
                continue
            } catch {
                throw failure(error)
            }
            try secret.checkReleasable()
            let encoded = try session.encode(secret)
            if try items.access.release(id, in: collection, to: client).isAudited {
                try await items.access.syncAudit(for: client)
                guard !collection.isLocked, client.sees(id, in: collection), collection.hasSecret(of: revision) else {
                    throw ItemAccess.hasEnded
                }
            }
            return encoded.answer(call)
        }
        throw BusError(.failed, "item \(id) kept changing while it was read; try again")
    }

    /// Converts the error of a failed read, and emits `Problem` if it has changed.
    @BusActor
    func failure(_ error: VaultError) -> BusError {
        items.changes.problemMayHaveChanged(collection)
        return BusError(error)
    }

    @BusActor
    func setSecret(_ call: MethodCall) async throws(BusError) {
        let secret = try readSecret(from: call)
        try await items.keys.check(secret, item.attributes, for: client)
        let permission = try await permission(to: .changeSecret)
        try await write(secret: secret, by: .changeSecret, under: permission)
        call.reply()
    }

    /// Reads the argument, and wipes the secret from the message even if it is invalid.
    @BusActor
    private func readSecret(from call: MethodCall) throws(BusError) -> Secret {
        defer { call.message.wipeByteArrays() }
        var reader = call.message.makeReader()
        return try client.sessions.readSecret(&reader)
    }
}

import DBus
import KeychainModel
import Vault

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
            // By this very name clients know that they may try another (#20).
            throw BusError(.notSupported, "the algorithm '\(name)' is not supported")
        }
        // Before the agreement, which takes longer than all the rest.
        try provider.sessions.checkRoom(for: caller)
        let agreement = try algorithm.negotiate(&reader)
        let output = agreement.output
        let session = agreement.makeSession(owner: caller)
        try provider.sessions.insert(session)
        call.reply(with: output, session.path)
    }

    @BusActor
    private func getSecrets(_ call: MethodCall) throws(BusError) -> Dispatch {
        // The session first: the list may be long.
        var rest = call.message.makeReader()
        rest.skip()
        let session = try provider.readSession(&rest, of: caller)
        var reader = call.message.makeReader()
        var seen: Set<ObjectPath> = []
        let paths = try [ObjectPath](from: &reader, limit: provider.limits.objectsPerCall)
            .filter { seen.insert($0).inserted }
        let items = paths.compactMap(wanted)
        var batch = SecretBatch(session: session, limit: provider.limits.secretBytesPerReply)
        for item in items {
            switch resident(item) {
            case .secret(let secret): try batch.add(secret, of: item.path)
            case .stored: return .suspending { () async throws(BusError) in try await getStored(items, session, call) }
            case .unavailable: provider.changes.tellProblem(of: item.collection)
            }
        }
        answer(call, with: batch, of: items)
        return .answered
    }

    /// Begins anew, so that no secret is held while the call waits.
    @BusActor
    private func getStored(_ items: [WantedItem], _ session: Session, _ call: MethodCall) async throws(BusError) {
        try await provider.largeAnswers.make(for: caller) { () async throws(BusError) in
            var batch = SecretBatch(session: session, limit: provider.limits.secretBytesPerReply)
            for item in items {
                if let secret = try? await item.collection.storedSecret(of: item.id, under: item.grant) {
                    try batch.add(secret, of: item.path)
                } else {
                    provider.changes.tellProblem(of: item.collection)
                }
            }
            answer(call, with: batch, of: items)
        }
    }

    /// Answers with the secrets; only now are grants used, and the secrets said to have been released.
    ///
    /// A grant may have ended meanwhile, or been one for a single release of an item that is asked for under two names.
    @BusActor
    private func answer(_ call: MethodCall, with batch: SecretBatch, of items: [WantedItem]) {
        var batch = batch
        let added = Set(batch.paths)
        var lost: Set<ObjectPath> = []
        for item in items where item.grant != nil && added.contains(item.path) {
            let isReleased = (try? provider.access.release(item.id, in: item.collection, to: caller)) != nil
            if !isReleased { lost.insert(item.path) }
        }
        if !lost.isEmpty { batch.remove(lost) }
        call.reply { batch.write(to: &$0) }
    }

    /// An item whose secret the caller may have, under the path by which it was asked for.
    private struct WantedItem {
        let path: ObjectPath
        let collection: Collection
        let id: ItemID
        let grant: ItemGrant?
    }

    /// What is locked or gone is left out of the answer (#81).
    @BusActor
    private func wanted(_ path: ObjectPath) -> WantedItem? {
        guard let (collection, id) = provider.findItem(path) else { return nil }
        do throws(BusError) {
            let grant = try provider.access.authorize(id, in: collection, for: caller)
            return WantedItem(path: path, collection: collection, id: id, grant: grant)
        } catch {
            return nil
        }
    }

    /// What is damaged is left out, too.
    private func resident(_ item: WantedItem) -> ResidentSecret {
        do throws(VaultError) {
            guard let secret = try item.collection.secret(of: item.id, under: item.grant) else { return .stored }
            return .secret(secret)
        } catch {
            return .unavailable
        }
    }

    private enum ResidentSecret: ~Copyable {
        case secret(Secret)
        case stored
        case unavailable
    }
}

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
        let agreement = try algorithm.negotiate(&reader)
        let output = agreement.output
        let session = agreement.makeSession(owner: caller)
        try provider.sessions.insert(session)
        call.reply(with: output, session.path)
    }

    @BusActor
    private func getSecrets(_ call: MethodCall) throws(BusError) -> Dispatch {
        var reader = call.message.makeReader()
        var seen: Set<ObjectPath> = []
        let paths = try [ObjectPath](from: &reader).filter { seen.insert($0).inserted }
        let session = try provider.readSession(&reader, of: caller)
        var batch = SecretBatch(session: session, limit: provider.limits.secretBytesPerReply)
        for path in paths {
            guard let (collection, id) = provider.findItem(path) else { continue }
            switch resident(id, in: collection) {
            case .secret(let secret): try batch.add(secret, of: path)
            case .stored: return .suspending { () async throws(BusError) in try await getStored(paths, session, call) }
            case .unavailable: break
            }
        }
        call.reply { batch.write(to: &$0) }
        return .answered
    }

    /// Begins anew, so that no secret is held while the call waits.
    @BusActor
    private func getStored(_ paths: [ObjectPath], _ session: Session, _ call: MethodCall) async throws(BusError) {
        try await provider.largeAnswers.make { () async throws(BusError) in
            var batch = SecretBatch(session: session, limit: provider.limits.secretBytesPerReply)
            for path in paths {
                guard let (collection, id) = provider.findItem(path) else { continue }
                if let secret = try? await collection.storedSecret(of: id) {
                    try batch.add(secret, of: path)
                }
            }
            call.reply { batch.write(to: &$0) }
        }
    }

    /// What is locked, damaged or gone is left out of the answer (#81).
    private func resident(_ id: ItemID, in collection: Collection) -> ResidentSecret {
        do throws(VaultError) {
            guard let secret = try collection.secret(of: id) else { return .stored }
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

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
            out: [Parameter("secrets", signature: WrittenSecrets.signature)]
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
        let agreement = try algorithm.negotiate(&reader)
        client.insert(agreement.session)
        call.reply(with: agreement.output, agreement.session.path)
    }

    @BusActor
    private func getSecrets(_ call: MethodCall) throws(BusError) -> Dispatch {
        // The session is read first: the list may be long.
        _ = try session(of: call)
        let paths = try provider.paths(in: call, areDistinct: true)
        // Of several, each might show a dialog: a program that lists a keychain reads all of it.
        if paths.count == 1, let (collection, id) = client.findItem(paths[0], in: provider.vault),
            provider.reads.areUseful(for: call, reading: id, in: collection)
        {
            return .suspending { () async throws(BusError) in
                await provider.reads.ask(for: id, in: collection, by: client)
                try client.checkConnected()
                try await answerSecrets(call, of: paths).finish()
            }
        }
        return try answerSecrets(call, of: paths)
    }

    @BusActor
    private func session(of call: MethodCall) throws(BusError) -> Session {
        var reader = call.message.makeReader()
        reader.skip()
        return try client.sessions.read(&reader)
    }

    @BusActor
    private func answerSecrets(_ call: MethodCall, of paths: PathList) throws(BusError) -> Dispatch {
        let session = try session(of: call)
        var writer = call.beginReply()
        guard try writeResidentSecrets(of: wanted(paths), in: session, to: &writer) else {
            return .suspending { () async throws(BusError) in
                try await sendSecrets(in: session, answering: call) { _ in wanted(paths) }
            }
        }
        call.reply(written: writer)
        return .answered
    }

    @BusActor
    private func wanted(_ paths: PathList) -> [WantedItem] {
        var items: [WantedItem] = []
        items.reserveCapacity(paths.count)
        for number in 0..<paths.count {
            if let item = wanted(paths[number]) { items.append(item) }
        }
        return items
    }
}

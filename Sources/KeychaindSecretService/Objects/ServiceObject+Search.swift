import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// Searching and reading in one call.
extension ServiceObject {
    @BusActor static let searchInterface = Interface<ServiceObject>(
        InterfaceName.search,
        methods: [
            Method(
                deciding: "Search",
                in: [
                    Parameter("queries", [Attributes].self), Parameter("session", ObjectPath.self),
                    Parameter("limit", UInt32.self), Parameter("described", UInt32.self),
                ],
                out: results
            ) { (object, call) throws(BusError) in
                try object.searchAndRead(call)
            },
            Method(
                deciding: "Get",
                in: [Parameter("items", [ObjectPath].self), Parameter("session", ObjectPath.self)],
                out: results
            ) { (object, call) throws(BusError) in
                try object.read(call)
            },
        ]
    )

    private static let results = [
        Parameter("found", signature: "a" + FoundItems.signature),
        Parameter("secrets", signature: SecretBatch.signature),
    ]

    /// Bytes of a reply from which it waits for its turn.
    private static let largeReply = 1 << 20

    @BusActor
    private func searchAndRead(_ call: MethodCall) throws(BusError) -> Dispatch {
        var rest = call.message.makeReader()
        rest.skip()
        let session = try client.readOptionalSession(&rest)
        let limit = Int(try UInt32(from: &rest))
        var found = FoundItems(for: client, access: provider.access, describedQuery: Int(try UInt32(from: &rest)))
        let collections = provider.vault.collections
        var reader = call.message.makeReader()
        var number = 0
        try reader.readArray(limit: provider.limits.queriesPerCall) { (reader) throws(BusError) in
            // Items of later queries come after all that were found.
            guard limit == 0 || found.count < limit else { return reader.skip() }
            let query = try Attributes(from: &reader)
            found.add(query: number, { [client] collection in client.search(query, in: collection) }, in: collections)
            number += 1
        }
        found.sort(limit: limit)
        return try answer(call, with: found, session)
    }

    @BusActor
    private func read(_ call: MethodCall) throws(BusError) -> Dispatch {
        var reader = call.message.makeReader()
        let paths = try provider.unlocking.readObjects(&reader)
        let session = try client.readOptionalSession(&reader)
        var found = FoundItems(for: client, access: provider.access)
        found.add(paths.compactMap { path in client.findItem(path, in: provider.vault) })
        found.sort(limit: 0)
        return try answer(call, with: found, session)
    }

    /// Answers with the items, and with the secrets of the unlocked ones if there is a session.
    @BusActor
    private func answer(_ call: MethodCall, with found: FoundItems, _ session: Session?) throws(BusError) -> Dispatch {
        guard found.count <= provider.limits.objectsAtOnce else { return answerInSlices(call, with: found, session) }
        let size = found.byteCount
        guard size <= provider.limits.itemBytesPerReply else { throw FoundItems.tooMany }
        guard size <= ServiceObject.largeReply else { return answerInSlices(call, with: found, session) }
        var batch: SecretBatch?
        if let session {
            batch = try residentSecrets(of: found.unlocked.compactMap(wanted), in: session)
            if batch == nil { return answerInSlices(call, with: found, session) }
        }
        call.reply { writer in
            found.write(to: &writer)
            if let batch { batch.write(to: &writer) } else { SecretBatch.writeNone(to: &writer) }
        }
        return .answered
    }

    @BusActor
    private func answerInSlices(_ call: MethodCall, with found: FoundItems, _ session: Session?) -> Dispatch {
        .suspending { () async throws(BusError) in
            if let session {
                let unlocked = found.unlocked
                let find = { wanted(unlocked[$0]) }
                return try await sendSecrets(unlocked.count, find, after: found, in: session, answering: call)
            }
            try await provider.largeAnswers.make(for: client) { () async throws(BusError) in
                var slice = provider.largeAnswers.beginSlice()
                var writer = call.beginReply()
                try await found.write(to: &writer, &slice, upTo: provider.limits.itemBytesPerReply)
                SecretBatch.writeNone(to: &writer)
                call.reply(written: writer)
            }
        }
    }
}

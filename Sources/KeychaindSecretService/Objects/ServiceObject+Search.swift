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
        let limit = provider.limits.itemBytesPerReply
        let size = found.byteCount(upTo: limit)
        guard size <= limit else {
            throw BusError(.limitsExceeded, "too many items match for one reply; search with more attributes")
        }
        if let session {
            return try readSecrets(of: found.unlocked, in: session) { batch in
                call.reply { writer in
                    found.write(to: &writer)
                    batch.write(to: &writer)
                }
            }
        }
        let answer: @BusActor () -> Void = {
            call.reply { writer in
                found.write(to: &writer)
                writer.writeArray(of: SecretBatch.entrySignature) { _ in }
            }
        }
        guard size > ServiceObject.largeReply else {
            answer()
            return .answered
        }
        return .suspending { () async throws(BusError) in
            try await provider.largeAnswers.make(for: client) { () async throws(BusError) in answer() }
        }
    }
}

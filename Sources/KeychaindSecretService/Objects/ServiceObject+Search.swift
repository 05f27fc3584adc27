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
                    Parameter("limit", UInt32.self),
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
        Parameter("secrets", signature: WrittenSecrets.signature),
    ]

    @BusActor
    private func searchAndRead(_ call: MethodCall) throws(BusError) -> Dispatch {
        // Read first: the queries may be long.
        var rest = call.message.makeReader()
        rest.skip()
        let session = try client.sessions.readOptional(&rest)
        let limit = Int(try UInt32(from: &rest))
        return try answer(call, session) { () throws(BusError) in try search(call, limit: limit) }
    }

    /// Finds the items of the queries; those of later ones come after all that were found.
    @BusActor
    private func search(_ call: MethodCall, limit: Int) throws(BusError) -> FoundItems {
        var found = FoundItems(for: client, access: provider.access)
        var reader = call.message.makeReader()
        var number = 0
        try reader.readArray(limit: provider.limits.queriesPerCall) { (reader) throws(BusError) in
            defer { number += 1 }
            guard limit == 0 || found.count < limit else { return reader.skip() }
            let query = try Attributes(from: &reader)
            for collection in provider.vault.collections {
                found.add(client.search(query, in: collection), in: collection, query: number)
            }
        }
        found.sort(limit: limit)
        return found
    }

    @BusActor
    private func read(_ call: MethodCall) throws(BusError) -> Dispatch {
        var rest = call.message.makeReader()
        rest.skip()
        let session = try client.sessions.readOptional(&rest)
        let paths = try provider.paths(in: call)
        return try answer(call, session) { () throws(BusError) in
            var found = FoundItems(for: client, access: provider.access)
            for path in paths.all {
                if let (collection, id) = client.findItem(path, in: provider.vault) { found.add(id, in: collection) }
            }
            found.sort(limit: 0)
            return found
        }
    }

    /// Answers with the items, and with the secrets of the unlocked ones if there is a session.
    ///
    /// - Parameter find: called once more if secrets are on the disk, in the turn of the client.
    @BusActor
    private func answer(
        _ call: MethodCall,
        _ session: Session?,
        _ find: @escaping @BusActor () throws(BusError) -> FoundItems
    ) throws(BusError) -> Dispatch {
        let limit = provider.limits.itemBytesPerReply
        let found = try find()
        var writer = call.beginReply()
        try found.write(to: &writer, upTo: limit)
        guard let session else {
            WrittenSecrets.writeNone(to: &writer)
            call.reply(written: writer)
            return .answered
        }
        guard
            try writeResidentSecrets(
                of: found.unlocked.compactMap { wanted($0.id, in: $0.collection) },
                in: session,
                to: &writer
            )
        else {
            return .suspending { () async throws(BusError) in
                try await sendSecrets(in: session, answering: call) { (writer) throws(BusError) in
                    let found = try find()
                    try found.write(to: &writer, upTo: limit)
                    return found.unlocked.compactMap { wanted($0.id, in: $0.collection) }
                }
            }
        }
        call.reply(written: writer)
        return .answered
    }
}

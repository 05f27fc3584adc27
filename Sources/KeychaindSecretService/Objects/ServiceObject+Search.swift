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

    /// Bytes of a reply from which it waits for its turn.
    private static let largeReply = 1 << 20

    @BusActor
    private func searchAndRead(_ call: MethodCall) throws(BusError) -> Dispatch {
        let search = try CombinedSearch(call, client)
        var found = FoundItems(for: client, access: provider.access)
        var room = provider.limits.searchedAtOnce
        var isLong = false
        try search.forEachQuery(limit: provider.limits.queriesPerCall) { (number, reader) throws(BusError) in
            // Items of later queries come after all that were found.
            guard !isLong, search.wantsMore(than: found.count) else { return reader.skip() }
            let query = try Attributes(from: &reader)
            var hits: [LongSearch.Hits] = []
            for collection in provider.vault.collections {
                guard let ids = client.search(query, in: collection, lookingAt: &room) else { return isLong = true }
                hits.append((collection, ids))
            }
            found.add(query: number, hits)
        }
        guard !isLong else {
            return answerInSlices(call, search.session) { (slice) async throws(BusError) in
                try await find(search, &slice)
            }
        }
        found.sort(limit: search.limit)
        return try answer(call, with: found, search.session)
    }

    @BusActor
    private func find(_ search: CombinedSearch, _ slice: inout TimeSlice) async throws(BusError) -> FoundItems {
        var found = FoundItems(for: client, access: provider.access)
        let long = LongSearch(client: client, access: provider.access) { provider.vault.collections }
        var number = 0
        while search.wantsMore(than: found.count), let query = try search.query(number) {
            await found.add(query: number, try await long.hits(query, &slice), &slice)
            number += 1
        }
        await found.sort(limit: search.limit, &slice)
        return found
    }

    /// The arguments of `Search`.
    @BusActor
    private struct CombinedSearch {
        let session: Session?
        /// The most items; zero for all.
        let limit: Int
        private let message: Message

        init(_ call: MethodCall, _ client: Client) throws(BusError) {
            message = call.message
            var rest = message.makeReader()
            rest.skip()
            session = try client.sessions.readOptional(&rest)
            limit = Int(try UInt32(from: &rest))
        }

        func wantsMore(than count: Int) -> Bool { limit == 0 || count < limit }

        /// Calls the closure with the number of each query; it must read or skip the query.
        func forEachQuery(
            limit: Int,
            _ body: (Int, inout Reader) throws(BusError) -> Void
        ) throws(BusError) {
            var reader = message.makeReader()
            var number = 0
            try reader.readArray(limit: limit) { (reader) throws(BusError) in
                try body(number, &reader)
                number += 1
            }
        }

        /// Reads one query; nil if there are fewer.
        func query(_ wanted: Int) throws(BusError) -> Attributes? {
            var query: Attributes?
            try forEachQuery(limit: .max) { (number, reader) throws(BusError) in
                if number == wanted { query = try Attributes(from: &reader) } else { reader.skip() }
            }
            return query
        }
    }

    @BusActor
    private func read(_ call: MethodCall) throws(BusError) -> Dispatch {
        // The session is read first: the list may be long.
        var rest = call.message.makeReader()
        rest.skip()
        let session = try client.sessions.readOptional(&rest)
        var reader = call.message.makeReader()
        guard let paths = try provider.unlocking.readFewObjects(&reader) else {
            return answerInSlices(call, session) { (slice) async throws(BusError) in
                try await findNamed(in: call, &slice)
            }
        }
        var found = FoundItems(for: client, access: provider.access)
        found.add(paths.compactMap { path in client.findItem(path, in: provider.vault) })
        found.sort(limit: 0)
        return try answer(call, with: found, session)
    }

    /// Finds the items of a `Get` of many, while other calls are handled.
    @BusActor
    private func findNamed(in call: MethodCall, _ slice: inout TimeSlice) async throws(BusError) -> FoundItems {
        let paths = try await PathList(of: call.message, limit: provider.limits.objectsPerCall, &slice)
        var found = FoundItems(for: client, access: provider.access)
        for number in 0..<paths.count {
            await slice.yieldIfOver()
            try client.checkConnected()
            if let item = client.findItem(paths[number], in: provider.vault) { found.add([item]) }
        }
        await found.sort(limit: 0, &slice)
        return found
    }

    /// Answers with the items, and with the secrets of the unlocked ones if there is a session.
    @BusActor
    private func answer(_ call: MethodCall, with found: FoundItems, _ session: Session?) throws(BusError) -> Dispatch {
        guard found.count <= provider.limits.objectsAtOnce else { return answerInSlices(call, session) { _ in found } }
        let size = found.byteCount
        guard size <= provider.limits.itemBytesPerReply else { throw BusError.tooManyHits }
        guard size <= ServiceObject.largeReply else { return answerInSlices(call, session) { _ in found } }
        var writer = call.beginReply()
        found.write(to: &writer)
        if let session {
            let items = found.unlocked.compactMap(wanted)
            guard try writeResidentSecrets(of: items, in: session, to: &writer) else {
                return answerInSlices(call, session) { _ in found }
            }
        } else {
            WrittenSecrets.writeNone(to: &writer)
        }
        call.reply(written: writer)
        return .answered
    }

    /// - Parameter find: called in the turn of the client.
    @BusActor
    private func answerInSlices(
        _ call: MethodCall,
        _ session: Session?,
        _ find: @escaping @BusActor (inout TimeSlice) async throws(BusError) -> FoundItems
    ) -> Dispatch {
        .suspending { () async throws(BusError) in
            if let session {
                try await sendSecrets(in: session, answering: call) { (writer, slice) async throws(BusError) in
                    let found = try await find(&slice)
                    try await found.write(to: &writer, &slice, upTo: provider.limits.itemBytesPerReply)
                    return (found.count, { number in found.readable(number).flatMap(wanted) })
                }
                return
            }
            try await provider.largeAnswers.make(for: client) { () async throws(BusError) in
                let sight = client.sight
                var slice = provider.largeAnswers.beginSlice()
                var writer = call.beginReply()
                let found = try await find(&slice)
                try await found.write(to: &writer, &slice, upTo: provider.limits.itemBytesPerReply)
                WrittenSecrets.writeNone(to: &writer)
                await provider.largeAnswers.letOthersGoFirst(&slice)
                try client.checkConnected()
                try client.check(sight)
                call.reply(written: writer)
            }
        }
    }
}

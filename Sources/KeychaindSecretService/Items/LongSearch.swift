import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// A search among many items, which lets other calls in between.
@BusActor
struct LongSearch {
    /// The hits in a collection, last modified first.
    typealias Hits = (collection: Collection, ids: [ItemID])

    /// The searches in slices that changes may outdate; after them, one is made without slices.
    private static let tries = 3

    let client: Client
    let access: ItemAccess
    let collections: () -> [Collection]

    /// Returns the hits as they are when it returns, as if they had been found in one go.
    func hits(_ attributes: Attributes, _ slice: inout TimeSlice) async throws(BusError) -> [Hits] {
        try await result(of: attributes, &slice) { hits, _ in hits }
    }

    /// Returns what is made of the hits, as if that, too, had been done in one go when it returns.
    ///
    /// Otherwise the signal of a change could come before a reply that lacks the change.
    ///
    /// - Parameter make: must wait for nothing but its slices; may be called several times.
    func result<Result: ~Copyable>(
        of attributes: Attributes,
        _ slice: inout TimeSlice,
        _ make: ([Hits], inout TimeSlice) async throws(BusError) -> Result
    ) async throws(BusError) -> Result {
        for _ in 0..<LongSearch.tries {
            let searched = collections()
            let counts = searched.map { $0.changeCount }
            let conditions = AccessConditions(for: client, access)
            let hits = await find(attributes, in: searched, &slice)
            try client.checkConnected()
            guard let hits else { continue }
            let result = try await make(hits, &slice)
            try client.checkConnected()
            let isCurrent =
                searched.elementsEqual(collections(), by: ===) && counts == searched.map { $0.changeCount }
                && !client.view.isConfined && conditions.hold(for: client, access)
            if isCurrent { return result }
        }
        var endless = TimeSlice.endless
        return try await make(collections().map { ($0, client.search(attributes, in: $0)) }, &endless)
    }

    /// Nil once something has changed.
    private func find(
        _ attributes: Attributes,
        in searched: [Collection],
        _ slice: inout TimeSlice
    ) async -> [Hits]? {
        var hits: [Hits] = []
        for collection in searched {
            let ids = await collection.search(attributes) {
                await slice.yieldIfOver()
                return client.isConnected && !client.view.isConfined
            }
            guard var ids else { return nil }
            if !client.seesAllItems { ids = await visible(ids, in: collection, &slice) }
            hits.append((collection, ids))
        }
        return hits
    }

    private func visible(_ ids: [ItemID], in collection: Collection, _ slice: inout TimeSlice) async -> [ItemID] {
        var visible: [ItemID] = []
        for id in ids {
            await slice.yieldIfOver()
            if client.sees(id, in: collection) { visible.append(id) }
        }
        return visible
    }
}

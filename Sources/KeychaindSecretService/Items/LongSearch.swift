import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// A search among many items, which lets other calls in between.
@BusActor
struct LongSearch {
    /// The hits in a collection, last modified first.
    typealias Hits = (collection: Collection, ids: [ItemID])

    /// Searches in which something changes are repeated; the last one takes one go.
    private static let tries = 3

    let client: Client
    let collections: () -> [Collection]

    /// Returns the hits as they are when it returns, as if they had been found in one go.
    ///
    /// Signals of changes would otherwise come before the reply without them.
    func hits(_ attributes: Attributes, _ slice: inout TimeSlice) async throws(BusError) -> [Hits] {
        for _ in 0..<LongSearch.tries {
            let searched = collections()
            let counts = searched.map { $0.changeCount }
            var hits: [Hits] = []
            for collection in searched {
                let ids = await collection.search(attributes) {
                    await slice.yieldIfOver()
                    return client.isConnected && !client.view.isConfined
                }
                guard let ids else { break }
                hits.append((collection, ids))
            }
            try client.checkConnected()
            let isCurrent =
                hits.count == searched.count && searched.elementsEqual(collections(), by: ===)
                && counts == searched.map { $0.changeCount } && !client.view.isConfined
            if isCurrent { return hits }
        }
        return collections().map { ($0, client.search(attributes, in: $0)) }
    }
}

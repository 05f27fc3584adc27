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
    let collections: () -> [Collection]

    /// Returns the hits as they are when it returns, as if they had been found in one go.
    ///
    /// Otherwise the signal of a change could come before a reply that lacks the change.
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

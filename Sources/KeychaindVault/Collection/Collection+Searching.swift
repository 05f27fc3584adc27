package import KeychaindModel
import Logging

extension Collection {
    /// Returns the items with all of the attributes (#63, #64), last modified first; all items for no attributes (#65).
    ///
    /// Works in every state. Before the first unlock it matches blind tags, with a false match in 1 of 2⁶⁴ attributes.
    package func search(_ attributes: Attributes) -> [ItemID] {
        var room = Int.max
        return search(attributes, lookingAt: &room) ?? []
    }

    /// Does the same; nil if the search would look at more items than there is room for.
    ///
    /// - Parameter room: takes off the number of items that the search looks at.
    package func search(_ attributes: Attributes, lookingAt room: inout Int) -> [ItemID]? {
        guard table.count > 0 else { return [] }
        do throws(VaultError) {
            return try hits(attributes, lookingAt: &room)
        } catch {
            logFailure(error)
            return []
        }
    }

    /// Does the same in parts, with a pause after each; nil once the collection has changed in a pause, or a pause
    /// returns false.
    package func search(_ attributes: Attributes, pausing pause: () async -> Bool) async -> [ItemID]? {
        let tags: [UInt64]
        do throws(VaultError) {
            tags = try context.indexKey.tags(of: attributes)
        } catch {
            logFailure(error)
            return []
        }
        let count = changeCount
        var search = table.beginSearch(attributes, tags: tags)
        while !table.goOn(&search, by: Collection.itemsPerPart) {
            guard await pause(), changeCount == count else { return nil }
        }
        let isSorted = await search.hits.sort(
            pausing: { await pause() && changeCount == count },
            by: { first, second in first.isNewer(than: second) }
        )
        return isSorted ? search.hits.map(\.id) : nil
    }

    private static let itemsPerPart = 16

    /// Makes no more tags once an attribute decides: a tag costs more than a look at an item.
    private func hits(_ attributes: Attributes, lookingAt room: inout Int) throws(VaultError) -> [ItemID]? {
        var tags: [UInt64] = []
        var decided: [ItemID]?
        var failure: VaultError?
        attributes.visitPairs { pair in
            do throws(VaultError) {
                let tag = try context.indexKey.tag(of: pair)
                tags.append(tag)
                decided = table.hits(attributes, with: tag)
            } catch {
                failure = error
            }
            return decided == nil && failure == nil
        }
        if let failure { throw failure }
        if let decided { return decided }
        if room < .max {
            let count = table.candidateCount(tags: tags)
            guard count <= room else { return nil }
            room -= count
        }
        return table.search(attributes, tags: tags)
    }

    private func logFailure(_ error: VaultError) {
        context.configuration.logger.error("\(name): a search failed: \(error)")
    }
}

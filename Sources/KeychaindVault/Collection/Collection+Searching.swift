package import KeychaindModel
import Logging

extension Collection {
    /// Returns the items with all of the attributes (#63, #64), last modified first; all items for no attributes (#65).
    ///
    /// Works in every state. Before the first unlock it matches blind tags, with a false match in 1 of 2⁶⁴ attributes.
    package func search(_ attributes: Attributes) -> [ItemID] {
        guard table.count > 0 else { return [] }
        do throws(VaultError) {
            return try hits(attributes)
        } catch {
            context.configuration.logger.error("\(name): a search failed: \(error)")
            return []
        }
    }

    /// Makes no more tags once an attribute decides: a tag costs more than a look at an item.
    private func hits(_ attributes: Attributes) throws(VaultError) -> [ItemID] {
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
        return decided ?? table.search(attributes, tags: tags)
    }
}
